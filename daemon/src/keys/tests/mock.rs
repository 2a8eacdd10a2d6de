//! A Secret Service on a private connection, following the specification: one collection, plain sessions.

use super::Keyring;
use std::{
    collections::HashMap,
    sync::{Arc, Mutex},
};
use zbus::{Connection, ObjectPath, OwnedObjectPath, OwnedVariant, Variant, connection::Builder, fdo};

type Wrapped = (OwnedObjectPath, Vec<u8>, Vec<u8>, String);
type Attributes = HashMap<String, String>;

#[derive(Default)]
struct State {
    locked: bool,
    items: Vec<(Attributes, Vec<u8>)>,
    /// The mock's ends of its connections, which live as long as it does.
    served: Vec<Connection>,
}

#[derive(Clone, Default)]
pub(super) struct Mock(Arc<Mutex<State>>);

const ITEM: &str = "/org/freedesktop/secrets/collection/login/item";
const COLLECTION: &str = "/org/freedesktop/secrets/collection/login";

fn path(path: &str) -> OwnedObjectPath {
    ObjectPath::try_from(path.to_owned()).unwrap().into()
}

impl Mock {
    /// A keyring connected to this mock, or to nothing if not `served`.
    pub(super) async fn keyring(&self, served: bool) -> Keyring {
        let (ours, theirs) = std::os::unix::net::UnixStream::pair().unwrap();
        let mut server = Builder::unix_stream(theirs).server(zbus::Guid::generate()).p2p();
        if served {
            server = server
                .serve_at("/org/freedesktop/secrets", Service(self.clone()))
                .serve_at(COLLECTION, Collection(self.clone()))
                .serve_at(ITEM, Item(self.clone()));
        }
        let client = Builder::unix_stream(ours).p2p();
        let (server, client) = tokio::join!(server.build(), client.build());
        self.0.lock().unwrap().served.push(server.unwrap());
        Keyring::over(client.unwrap())
    }

    pub(super) fn lock(&self, locked: bool) {
        self.0.lock().unwrap().locked = locked;
    }

    pub(super) fn values(&self) -> Vec<String> {
        let state = self.0.lock().unwrap();
        state.items.iter().map(|(_, value)| String::from_utf8(value.clone()).unwrap()).collect()
    }
}

struct Service(Mock);

#[zbus::interface(name = "org.freedesktop.Secret.Service")]
impl Service {
    fn open_session(&self, algorithm: &str, _input: Variant<'_>) -> (OwnedVariant, OwnedObjectPath) {
        assert_eq!(algorithm, "plain");
        (Variant::from("").try_into().unwrap(), path("/org/freedesktop/secrets/session/1"))
    }

    fn read_alias(&self, name: &str) -> OwnedObjectPath {
        assert_eq!(name, "default");
        path(COLLECTION)
    }

    /// (There is at most one item; its path does not matter.)
    #[expect(clippy::needless_pass_by_value, reason = "arguments come by value from the bus")]
    fn search_items(&self, attributes: Attributes) -> (Vec<OwnedObjectPath>, Vec<OwnedObjectPath>) {
        let state = self.0.0.lock().unwrap();
        let found: Vec<_> =
            state.items.iter().filter(|(a, _)| *a == attributes).map(|_| path(ITEM)).collect();
        if state.locked { (vec![], found) } else { (found, vec![]) }
    }

    fn unlock(&self, objects: Vec<OwnedObjectPath>) -> (Vec<OwnedObjectPath>, OwnedObjectPath) {
        if self.0.0.lock().unwrap().locked {
            (vec![], path("/org/freedesktop/secrets/prompt/1"))
        } else {
            (objects, path("/"))
        }
    }
}

struct Collection(Mock);

#[zbus::interface(name = "org.freedesktop.Secret.Collection")]
impl Collection {
    fn create_item(
        &self,
        mut properties: HashMap<String, OwnedVariant>,
        secret: Wrapped,
        replace: bool,
    ) -> (OwnedObjectPath, OwnedObjectPath) {
        assert!(replace);
        let attributes = properties.remove("org.freedesktop.Secret.Item.Attributes").unwrap();
        let attributes = Attributes::try_from(attributes).unwrap();
        let mut state = self.0.0.lock().unwrap();
        state.items.retain(|(a, _)| *a != attributes);
        state.items.push((attributes, secret.2));
        (path(ITEM), path("/"))
    }
}

struct Item(Mock);

#[zbus::interface(name = "org.freedesktop.Secret.Item")]
impl Item {
    fn get_secret(&self, session: OwnedObjectPath) -> fdo::Result<(Wrapped,)> {
        let state = self.0.0.lock().unwrap();
        let (_, value) = state.items.first().ok_or(fdo::Error::UnknownObject(String::new()))?;
        Ok(((session, vec![], value.clone(), "text/plain".to_owned()),))
    }

    fn delete(&self) -> OwnedObjectPath {
        self.0.0.lock().unwrap().items.clear();
        path("/")
    }
}
