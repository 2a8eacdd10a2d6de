use crate::wait;
use abide_host::{Home, application};
use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};
use zbus::{Connection, Variant, interface, wire::OwnedVariant};

/// An application that has the window's name on the bus; it ends when it is dropped.
pub struct Application {
    activations: Activations,
    _server: Connection,
}

type Activations = Arc<Mutex<Vec<Activation>>>;

/// A call of `ActivateAction`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Activation {
    pub action: String,
    /// Texts.
    pub parameters: Vec<String>,
    /// By key; texts.
    pub platform: HashMap<String, String>,
}

impl Application {
    pub(super) async fn start(address: &str, home: &Home) -> zbus::Result<Self> {
        let activations = Activations::default();
        let actions = Actions { activations: Arc::clone(&activations) };
        let builder = zbus::connection::Builder::address(address).name(application::bus_name(home));
        let server = builder.serve_at(application::PATH, actions).build().await?;
        Ok(Self { activations, _server: server })
    }

    /// Waits for the first activation after so many.
    ///
    /// # Panics
    /// It does not come in time.
    pub async fn activation(&self, after: usize) -> Activation {
        wait::wait_for("the window to be asked for", async || {
            self.activations.lock().unwrap_or_else(PoisonError::into_inner).get(after).cloned()
        })
        .await
    }
}

struct Actions {
    activations: Activations,
}

fn text(value: &Variant<'_>) -> String {
    match value {
        Variant::Str(text) => text.to_string(),
        other => format!("{other:?}"),
    }
}

#[interface(name = "org.freedesktop.Application")]
impl Actions {
    fn activate_action(
        &self,
        action: String,
        parameters: Vec<OwnedVariant>,
        platform: HashMap<String, OwnedVariant>,
    ) {
        let activation = Activation {
            action,
            parameters: parameters.into_iter().map(|parameter| text(&parameter)).collect(),
            platform: platform.into_iter().map(|(key, value)| (key, text(&value))).collect(),
        };
        self.activations.lock().unwrap_or_else(PoisonError::into_inner).push(activation);
    }
}
