//! Learns the name of the first model of the server that the environment selects, where the server did not answer at the start.
//!
//! Without this a daemon that was started before its model server asks for a model that does not exist, until it is stopped.

use std::sync::Arc;
use std::time::Duration;

use palyra_runtime::ModelDirectory;
use palyra_types::model::ModelRef;
use tokio::sync::watch;

/// The pause before the first question; it doubles up to the longest one.
const PAUSE_FIRST: Duration = Duration::from_secs(1);
const PAUSE_MAX: Duration = Duration::from_secs(60);
/// How long a server may take to say what it has.
const ASK_SPAN_MAX: Duration = Duration::from_secs(5);

/// Asks the server of an unknown default model which models it has, until it says so; runs as long as the daemon.
pub(crate) async fn learn_first_model(models: watch::Sender<Arc<ModelDirectory>>) {
    let mut seen = models.subscribe();
    let mut pause = PAUSE_FIRST;
    loop {
        let Ok(unknown) =
            seen.wait_for(|directory| directory.is_default_unknown()).await.map(|it| it.clone())
        else {
            return;
        };
        tokio::time::sleep(pause).await;
        pause = PAUSE_MAX.min(pause * 2);
        let Some(first) = first_model(&unknown).await else { continue };
        pause = PAUSE_FIRST;
        tracing::info!(model = %first, "the model server says which models it has");
        models.send_if_modified(|directory| {
            let is_unknown = directory.is_default_unknown();
            if is_unknown {
                *directory = Arc::new(directory.with_known_default(first));
            }
            is_unknown
        });
    }
}

async fn first_model(directory: &ModelDirectory) -> Option<ModelRef> {
    let default = directory.default_model();
    let provider = directory.provider(default)?;
    let asked = tokio::time::timeout(ASK_SPAN_MAX, provider.models()).await;
    let first = asked.ok()?.ok()?.into_iter().next()?;
    Some(ModelRef { provider: default.provider.clone(), model: first.name })
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use palyra_demo_model::DemoProvider;
    use palyra_ports::ModelProvider;

    use super::*;
    use crate::keyless_provider::KeylessProvider;

    #[tokio::test(start_paused = true)]
    async fn a_server_that_answers_later_gives_the_default_model_its_name() {
        let searches = AtomicUsize::new(0);
        let connect = move || -> Result<Arc<dyn ModelProvider>, String> {
            match searches.fetch_add(1, Ordering::SeqCst) {
                0 | 1 => Err("it is not up yet".to_owned()),
                _ => Ok(Arc::new(DemoProvider)),
            }
        };
        let late = KeylessProvider::new(Arc::new(DemoProvider), Box::new(connect), String::new());
        let default = ModelRef::new("demo", "default");
        let directory = ModelDirectory::new(vec![Arc::new(late)], default, Vec::new());
        let (models, mut seen) = watch::channel(Arc::new(directory.with_unknown_default()));
        let learning = tokio::spawn(learn_first_model(models));
        let known = seen.wait_for(|directory| !directory.is_default_unknown()).await.expect("it is learned");
        assert_eq!(*known.default_model(), ModelRef::new("demo", "demo"));
        drop(known);
        learning.abort();
    }
}
