//! Runs of trials: the ledger that keeps each once, and agents on a model server that fails in every way.

#[cfg(test)]
mod contract;
mod fake_model_server;
mod folder;
mod ledger;
mod made_up;
mod millions;
