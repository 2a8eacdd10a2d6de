use super::KeyringError;
use serde::{Serialize, de::DeserializeOwned};
use std::{collections::HashMap, path::Path};
use zbus::{
    Connection, DBusError as _, DynamicType, ObjectPath, OwnedObjectPath, OwnedVariant, Type, Variant,
};

const BUS_NAME: &str = "org.freedesktop.secrets";
const SERVICE: &str = "org.freedesktop.Secret.Service";
const SERVICE_PATH: &str = "/org/freedesktop/secrets";
const COLLECTION: &str = "org.freedesktop.Secret.Collection";
const ITEM: &str = "org.freedesktop.Secret.Item";

/// Session, parameters (none), value, content type.
type Wrapped = (OwnedObjectPath, Vec<u8>, Vec<u8>, String);

pub(in crate::keys) struct Keyring {
    /// Distinguishes the keys of different homes.
    home: String,
    bus: Bus,
}

enum Bus {
    /// Connected anew each time: that is seldom, and the bus may have restarted.
    Session,
    #[cfg(test)]
    Private(Connection),
}

impl Keyring {
    pub(in crate::keys) fn of_home(key_file: &Path) -> Self {
        Self { home: key_file.to_string_lossy().into_owned(), bus: Bus::Session }
    }

    #[cfg(test)]
    pub(in crate::keys) fn over(bus: Connection) -> Self {
        Self { home: "home".to_owned(), bus: Bus::Private(bus) }
    }

    pub(in crate::keys) async fn get(&self, provider: &str) -> Result<Option<String>, KeyringError> {
        let bus = self.bus().await?;
        let Some(item) = self.find(&bus, provider).await? else { return Ok(None) };
        let session = open_session(&bus).await?;
        let wrapped: Wrapped = call(&bus, &item, ITEM, "GetSecret", &(&session,)).await?;
        String::from_utf8(wrapped.2)
            .map(Some)
            .map_err(|_| KeyringError::Failed("its entry is not text".to_owned()))
    }

    pub(in crate::keys) async fn set(&self, provider: &str, key: &str) -> Result<(), KeyringError> {
        let bus = self.bus().await?;
        let collection: OwnedObjectPath =
            call(&bus, SERVICE_PATH, SERVICE, "ReadAlias", &("default",)).await?;
        if collection.as_str() == "/" {
            return Err(KeyringError::Absent);
        }
        unlock(&bus, &collection).await?;
        let session = open_session(&bus).await?;
        let label = format!("Abide: API key of {provider}");
        let properties = HashMap::from([
            ("org.freedesktop.Secret.Item.Label", Variant::from(label)),
            ("org.freedesktop.Secret.Item.Attributes", Variant::from(self.attributes(provider))),
        ]);
        let wrapped: Wrapped = (session, Vec::new(), key.as_bytes().to_vec(), "text/plain".to_owned());
        let replace = true;
        let (_, prompt): (OwnedObjectPath, OwnedObjectPath) =
            call(&bus, &collection, COLLECTION, "CreateItem", &(properties, wrapped, replace)).await?;
        refuse_prompt(&prompt)
    }

    pub(in crate::keys) async fn remove(&self, provider: &str) -> Result<(), KeyringError> {
        let bus = self.bus().await?;
        let Some(item) = self.find(&bus, provider).await? else { return Ok(()) };
        let prompt: OwnedObjectPath = call(&bus, &item, ITEM, "Delete", &()).await?;
        refuse_prompt(&prompt)
    }

    async fn bus(&self) -> Result<Connection, KeyringError> {
        match &self.bus {
            Bus::Session => Connection::session().await.map_err(|_| KeyringError::Absent),
            #[cfg(test)]
            Bus::Private(bus) => Ok(bus.clone()),
        }
    }

    fn attributes<'a>(&'a self, provider: &'a str) -> HashMap<&'a str, &'a str> {
        HashMap::from([("application", "abide"), ("home", self.home.as_str()), ("provider", provider)])
    }

    /// The provider's item, unlocked.
    async fn find(&self, bus: &Connection, provider: &str) -> Result<Option<OwnedObjectPath>, KeyringError> {
        let (unlocked, locked): (Vec<OwnedObjectPath>, Vec<OwnedObjectPath>) =
            call(bus, SERVICE_PATH, SERVICE, "SearchItems", &(self.attributes(provider),)).await?;
        if let Some(item) = unlocked.into_iter().next() {
            return Ok(Some(item));
        }
        let Some(item) = locked.into_iter().next() else { return Ok(None) };
        unlock(bus, &item).await?;
        Ok(Some(item))
    }
}

/// Secrets cross the bus unencrypted: it is this user's own socket, and its other users could ask the keyring
/// themselves.
async fn open_session(bus: &Connection) -> Result<OwnedObjectPath, KeyringError> {
    let (_, session): (OwnedVariant, OwnedObjectPath) =
        call(bus, SERVICE_PATH, SERVICE, "OpenSession", &("plain", Variant::from(""))).await?;
    Ok(session)
}

/// Unlocks what needs no password; a daemon must not cause a password prompt.
async fn unlock(bus: &Connection, object: &ObjectPath<'_>) -> Result<(), KeyringError> {
    let (_, prompt): (Vec<OwnedObjectPath>, OwnedObjectPath) =
        call(bus, SERVICE_PATH, SERVICE, "Unlock", &(vec![object],)).await?;
    refuse_prompt(&prompt)
}

/// Fails if the keyring wants to prompt the user.
fn refuse_prompt(prompt: &OwnedObjectPath) -> Result<(), KeyringError> {
    if prompt.as_str() == "/" { Ok(()) } else { Err(KeyringError::Locked) }
}

async fn call<B, R>(
    bus: &Connection,
    path: &str,
    interface: &str,
    method: &str,
    body: &B,
) -> Result<R, KeyringError>
where
    B: Serialize + DynamicType,
    R: DeserializeOwned + Type,
{
    let reply = bus.call_method(Some(BUS_NAME), path, Some(interface), method, body).await;
    reply.map_err(KeyringError::from)?.body().deserialize().map_err(|e| KeyringError::Failed(e.to_string()))
}

impl From<zbus::Error> for KeyringError {
    fn from(error: zbus::Error) -> Self {
        match error {
            zbus::Error::MethodError(name, ..) => named(&name),
            // The bus's own errors.
            zbus::Error::FDO(error) => named(&error.name()),
            zbus::Error::InputOutput(_) => Self::Absent,
            other => Self::Failed(other.to_string()),
        }
    }
}

/// What an error reply means. Only its name is looked at and kept: its message may repeat what was sent.
fn named(name: &str) -> KeyringError {
    let kind = name.strip_prefix("org.freedesktop.DBus.Error.").unwrap_or_default();
    match kind {
        "ServiceUnknown" | "NameHasNoOwner" | "UnknownObject" => KeyringError::Absent,
        _ if kind.starts_with("Spawn.") => KeyringError::Absent,
        _ if name.ends_with(".IsLocked") => KeyringError::Locked,
        _ => KeyringError::Failed(name.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use zbus::fdo;

    #[test]
    fn what_the_bus_says_without_a_keyring_is_its_absence_and_no_message_is_kept() {
        let means = |error| format!("{:?}", KeyringError::from(zbus::Error::FDO(Box::new(error))));
        let absent = format!("{:?}", KeyringError::Absent);
        let message = || "sk-secret".to_owned();
        for error in [
            fdo::Error::ServiceUnknown(message()),
            fdo::Error::NameHasNoOwner(message()),
            fdo::Error::UnknownObject(message()),
            fdo::Error::SpawnExecFailed(message()),
        ] {
            assert_eq!(means(error), absent);
        }
        let denied = means(fdo::Error::AccessDenied(message()));
        assert!(denied.contains("AccessDenied") && !denied.contains("sk-secret"), "{denied}");
    }
}
