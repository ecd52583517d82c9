//! The picture of a world's tables: complete, the same twice, and in the documentation as it is drawn now.

use benchwright_catalog::Catalog;
use benchwright_export::picture;
use std::{fs, path::Path};

fn root() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

#[test]
fn the_picture_in_the_documentation_is_fresh() {
    let found = Catalog::from_folder(root().join("domains")).find("csm+itsm").unwrap();
    let drawn = picture(&found.domain);
    let place = root().join("docs/csm+itsm.svg");
    if std::env::var_os("BENCHWRIGHT_UPDATE").is_some() {
        fs::write(&place, &drawn).unwrap();
    }
    let kept = fs::read_to_string(place).unwrap_or_default();
    assert!(kept == drawn, "docs/csm+itsm.svg is stale: BENCHWRIGHT_UPDATE=1 before this test writes it anew");
}

#[test]
fn every_table_has_its_box_and_every_reference_its_line_or_dot() {
    let catalog = Catalog::from_folder(root().join("domains"));
    for (name, panels) in [("hr", 1), ("csm+drive+email", 3)] {
        let found = catalog.find(name).unwrap();
        let drawn = picture(&found.domain);
        assert_eq!(drawn, picture(&found.domain));
        let boxes = drawn.matches("<rect class=\"box").count();
        assert_eq!(
            (boxes, drawn.matches("<rect class=\"panel\"").count()),
            (found.domain.tables.len(), panels),
            "{name}"
        );
        for table in &found.domain.tables {
            assert!(drawn.contains(&format!(">{}</text>", table.own_name())), "{}", table.name);
        }
        // Between two tables, however many fields, and not to itself.
        let mut pairs = std::collections::BTreeSet::new();
        for (at, table) in found.domain.tables.iter().enumerate() {
            for field in &table.fields[1..] {
                if let benchwright_expr::Type::Ref(to) = field.ty
                    && to.index() != at
                {
                    pairs.insert((at, to.index()));
                }
            }
        }
        let (lines, dots) = (drawn.matches("class=\"arrow\"").count(), drawn.matches("class=\"ring series").count());
        assert_eq!(lines + dots, pairs.len(), "{name}: {lines} lines, {dots} dots");
    }
}
