//! Odoo's JSON-2 as a face of episodes: `POST json/2/{model}/{method}` below an episode's address. On the embedded ERP the
//! calls are the domain's tools; on Odoo they go to the episode's database, with our key. The budget, the models and the
//! errors are the same on both.

use crate::face;
use benchwright_world::{Calls, Face, FaceAnswer, World};

/// The name among an episode's addresses.
pub(crate) const NAME: &str = "json2";

/// The face. It fits every world whose tables name models of Odoo.
#[derive(Clone, Copy, Debug, Default)]
pub struct Json2;

impl Face for Json2 {
    fn name(&self) -> &str {
        NAME
    }

    fn path(&self) -> &str {
        "json/2"
    }

    fn fits(&self, world: &dyn World) -> bool {
        world.domain().is_some_and(|domain| domain.tables.iter().any(|table| table.odoo.is_some()))
    }

    fn answer(&self, world: &dyn World, path: &str, body: &str, calls: &mut dyn Calls) -> Option<FaceAnswer> {
        let domain = world.domain()?;
        let (model, method) = path.split_once('/').filter(|(_, method)| !method.contains('/'))?;
        if !world.speaks(NAME) {
            let answer = face::answer(domain, model, method, body, &mut |tool, arguments| calls.call(tool, arguments));
            return Some(answer.into());
        }
        Some(match face::closed(domain, model, method) {
            Some(closed) => closed.into(),
            None => calls.speak(&[model, method], body).unwrap_or_else(|refusal| {
                let (status, body) = crate::error_body(&refusal);
                FaceAnswer { status, body }
            }),
        })
    }
}
