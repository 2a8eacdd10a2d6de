use abide_host::{Home, application};
use std::collections::HashMap;
use zbus::{Connection, Variant, connection::Builder, fdo};

const INTERFACE: &str = "org.freedesktop.Application";
const BUS: &str = "org.freedesktop.DBus";

/// A desktop's way to applications on the bus, as launchers and notifications take it.
pub struct Applications {
    connection: Connection,
}

impl Applications {
    pub(super) async fn new(address: &str) -> zbus::Result<Self> {
        Ok(Self { connection: Builder::address(address).build().await? })
    }

    /// The unique name of the window of this home; `None`: no window has the home's name.
    ///
    /// # Panics
    /// The bus is gone.
    pub async fn window(&self, home: &Home) -> Option<String> {
        self.owner(&application::bus_name(home)).await
    }

    /// The unique name of the owner of a name.
    ///
    /// # Panics
    /// The bus is gone.
    pub async fn owner(&self, name: &str) -> Option<String> {
        let path = "/org/freedesktop/DBus";
        let reply = self.connection.call_method(Some(BUS), path, Some(BUS), "GetNameOwner", &name).await;
        match reply {
            Ok(reply) => Some(reply.body().deserialize().expect("a name")),
            Err(zbus::Error::FDO(error)) if matches!(*error, fdo::Error::NameHasNoOwner(_)) => None,
            Err(error) => panic!("the bus does not answer: {error}"),
        }
    }

    /// The process of the owner of a name.
    ///
    /// # Panics
    /// It has no owner.
    pub async fn pid(&self, name: &str) -> u32 {
        let path = "/org/freedesktop/DBus";
        let call =
            self.connection.call_method(Some(BUS), path, Some(BUS), "GetConnectionUnixProcessID", &name);
        call.await.expect("the name has an owner").body().deserialize().expect("a number")
    }

    /// Calls `Activate` of the window of this home.
    ///
    /// # Errors
    /// As it replied.
    pub async fn activate(&self, home: &Home) -> Result<(), String> {
        self.call(home, "Activate", &(HashMap::<&str, Variant<'_>>::new(),)).await
    }

    /// Calls `ActivateAction` of the window of this home.
    ///
    /// # Errors
    /// As it replied.
    pub async fn action(&self, home: &Home, name: &str, parameter: Option<&str>) -> Result<(), String> {
        let data: HashMap<&str, Variant<'_>> =
            HashMap::from([("activation-token", Variant::from("a token"))]);
        let parameter: Vec<Variant<'_>> = parameter.into_iter().map(Variant::from).collect();
        self.call(home, "ActivateAction", &(name, parameter, data)).await
    }

    /// Calls `Open` of the window of this home.
    ///
    /// # Errors
    /// As it replied.
    pub async fn open(&self, home: &Home, uri: &str) -> Result<(), String> {
        self.call(home, "Open", &(vec![uri], HashMap::<&str, Variant<'_>>::new())).await
    }

    async fn call<B>(&self, home: &Home, method: &str, body: &B) -> Result<(), String>
    where
        B: serde::Serialize + zbus::wire::DynamicType,
    {
        let name = application::bus_name(home);
        let call = self.connection.call_method(
            Some(name.as_str()),
            application::PATH,
            Some(INTERFACE),
            method,
            body,
        );
        call.await.map(drop).map_err(|error| error.to_string())
    }
}
