//! The agents of a run, from their names and options.

use crate::failure::Failure;
use benchwright_pack::run::Limits;
use benchwright_run::{
    Agent, Bare, Bounds, Broken, Bubblewrap, Container, Isolation, Program, Surroundings, View, close_inherited,
    model::{AgentSpec, Dialect, Model, ModelAgent, ModelOptions, Prices, Redactor, Secret},
    policy,
};
use benchwright_workshop::code;
use std::{collections::BTreeMap, path::PathBuf, sync::Arc};

/// What agents are made with.
pub(crate) struct How<'a> {
    pub(crate) model: &'a ModelOptionsOfRun,
    pub(crate) limits: Limits,
    /// How programs are run, and what they may not see; nothing where none are.
    pub(crate) program: Option<(&'a ProgramOptions, &'a [PathBuf])>,
}

/// The agents of some names, and whether programs are among them.
pub(crate) fn agents(names: &[String], how: &How<'_>) -> anyhow::Result<(Vec<Box<dyn Agent + Send>>, bool)> {
    let mut agents: Vec<Box<dyn Agent + Send>> = Vec::new();
    let mut models: BTreeMap<String, Arc<Model>> = BTreeMap::new();
    let mut around: Option<Arc<Surroundings>> = None;
    for name in names {
        let next =
            "a policy such as greedy, WAY:MODEL such as react:some-model, or exec:COMMAND; benchwright run --help";
        let spec = AgentSpec::parse(name).map_err(|error| Failure::wrong_use(error, next))?;
        let name = spec.name();
        let agent: Box<dyn Agent + Send> = match spec {
            AgentSpec::Policy(name) => {
                policy(&name).ok_or_else(|| Failure::wrong_use(format!("there is no agent `{name}`"), next))?
            }
            AgentSpec::Model(spec) => {
                let model = match models.get(&spec.model) {
                    Some(known) => Arc::clone(known),
                    None => {
                        let model = Arc::new(how.model.open(&spec.model)?);
                        models.insert(spec.model.clone(), Arc::clone(&model));
                        model
                    }
                };
                let agent = ModelAgent::new(spec, model);
                if let Some(lacking) = agent.lacks(&how.limits) {
                    return Err(Failure::wrong_use(lacking, "--price IN,OUT, or no --cost"));
                }
                Box::new(agent)
            }
            AgentSpec::Program(command) => {
                let Some((program, kept)) = how.program else {
                    return Err(Failure::wrong_use(format!("{name} is a program"), "benchwright run, on one machine"));
                };
                let around = match &around {
                    Some(around) => Arc::clone(around),
                    None => Arc::clone(around.insert(Arc::new(program.surroundings(kept)?))),
                };
                around.try_out(&command).map_err(|broken| {
                    let next =
                        "a command that is there inside; --see PATH shows it a file or folder; benchwright doctor";
                    Failure::wrong_use(broken, next)
                })?;
                Box::new(Program::new(&name, &command, around))
            }
        };
        if !agents.iter().any(|known| known.name() == agent.name()) {
            agents.push(agent);
        }
    }
    Ok((agents, around.is_some()))
}

/// How programs are run.
#[derive(clap::Args)]
pub(crate) struct ProgramOptions {
    /// How programs are kept apart: bubblewrap or container [default: bubblewrap]
    #[arg(long, value_name = "WAY", conflicts_with = "trust_agent")]
    isolation: Option<String>,
    /// The image of their containers, which is here already
    #[arg(long, value_name = "IMAGE", required_if_eq("isolation", "container"))]
    image: Option<String>,
    /// A file or folder that programs see, to read; may be given again
    #[arg(long = "see", value_name = "PATH")]
    see: Vec<PathBuf>,
    /// Lets programs run with your own rights, sealed files and all; the record says so
    #[arg(long)]
    trust_agent: bool,
    /// A variable of the environment that programs see; may be given again
    #[arg(long = "pass", value_name = "VARIABLE")]
    pass: Vec<String>,
}

impl ProgramOptions {
    /// What programs are handed and nothing may keep.
    pub(super) fn secrets(&self) -> Redactor {
        Redactor::new(self.pass.iter().filter_map(|name| std::env::var(name).ok()))
    }

    fn surroundings(&self, kept: &[PathBuf]) -> anyhow::Result<Surroundings> {
        let mut variables = BTreeMap::new();
        variables.extend(std::env::var("PATH").ok().map(|path| ("PATH".to_owned(), path)));
        for name in &self.pass {
            let value = std::env::var(name).map_err(|_| {
                Failure::wrong_use(format!("{name} is not set"), format!("{name}=... benchwright run ..."))
            })?;
            variables.insert(name.clone(), value);
        }
        Ok(Surroundings { isolation: self.isolation(kept)?, variables })
    }

    fn isolation(&self, kept: &[PathBuf]) -> anyhow::Result<Box<dyn Isolation>> {
        // What was open before is not for programs.
        close_inherited();
        if self.trust_agent {
            return Ok(Box::new(Bare));
        }
        let kept: Vec<PathBuf> = kept.iter().cloned().chain(code::file()).collect();
        let view = View::new(&self.see, &kept)
            .map_err(|error| Failure::wrong_use(error, "--see PATH with a file or folder of the program's own"))?;
        let way = self.isolation.as_deref().unwrap_or("bubblewrap");
        let made: Result<Box<dyn Isolation>, Broken> = match (way, &self.image) {
            ("bubblewrap", _) => Bubblewrap::new(view, Bounds::default()).map(|made| Box::new(made) as _),
            ("container", Some(image)) => {
                Container::new(image, view, Bounds::default()).map(|made| Box::new(made) as _)
            }
            _ => {
                return Err(Failure::wrong_use(
                    format!("there is no isolation `{way}`"),
                    "--isolation bubblewrap or container",
                ));
            }
        };
        made.map_err(|broken| {
            let next =
                "apt-get install bubblewrap, or --trust-agent if the program may see what you see; benchwright doctor";
            Failure::missing(broken, next)
        })
    }
}

/// How models are reached.
#[derive(clap::Args)]
pub(crate) struct ModelOptionsOfRun {
    /// Where the model answers, with the version, such as https://api.openai.com/v1
    #[arg(long, value_name = "URL")]
    base_url: Option<String>,
    /// How it is spoken to: chat (Chat Completions), messages (Anthropic), responses
    #[arg(long, value_name = "DIALECT", default_value = "chat")]
    dialect: String,
    /// The environment variable that holds the key
    #[arg(long, value_name = "VARIABLE", default_value = "BENCHWRIGHT_MODEL_KEY")]
    key: String,
    /// Asks for whole answers instead of streams
    #[arg(long)]
    no_stream: bool,
    /// The temperature
    #[arg(long, value_name = "T")]
    temperature: Option<f64>,
    /// The most tokens of one answer
    #[arg(long, value_name = "N")]
    max_output: Option<u32>,
    /// Dollars for a million tokens in and out; without it the cost is unknown
    #[arg(long, value_name = "IN,OUT")]
    price: Option<String>,
    /// How many questions a model is asked at once
    #[arg(long, value_name = "N", default_value_t = 8)]
    at_once: usize,
}

impl ModelOptionsOfRun {
    fn open(&self, name: &str) -> anyhow::Result<Model> {
        let next = "benchwright run DIR --agent react:MODEL --base-url URL";
        let url = self.base_url.as_deref();
        let url = url.ok_or_else(|| Failure::wrong_use(format!("nothing says where {name} answers"), next))?;
        let dialect = Dialect::from_word(&self.dialect).ok_or_else(|| {
            Failure::wrong_use(format!("there is no dialect `{}`", self.dialect), "chat, messages or responses")
        })?;
        let key = std::env::var(&self.key).ok();
        let dollars = |text: &str| text.trim().parse::<f64>().ok().filter(|price| *price >= 0.0);
        let prices = match &self.price {
            None => None,
            Some(text) => {
                let both = text.split_once(',').and_then(|(input, output)| Some((dollars(input)?, dollars(output)?)));
                let (input, output) = both
                    .ok_or_else(|| Failure::wrong_use(format!("`{text}` is no pair of prices"), "--price 1.25,10"))?;
                Some(Prices { input: (input * 1e6).round() as u64, output: (output * 1e6).round() as u64 })
            }
        };
        let options = ModelOptions {
            key: key.as_deref().map(Secret::new),
            dialect,
            stream: !self.no_stream,
            temperature: self.temperature,
            max_output: self.max_output,
            prices,
            at_once: self.at_once,
            ..ModelOptions::new(name, url)
        };
        Model::new(options, Redactor::new(key)).map_err(|error| Failure::wrong_use(error, next))
    }
}
