//! A depot in a bucket: S3 and what speaks like it, Google Cloud Storage, Azure Blob Storage. `object_store` knows the services; here are an
//! address, how long a service that is away is waited for, and what whoever runs the program is told.
//!
//! Credentials and endpoints come from the environment (`AWS_…`, `GOOGLE_…`, `AZURE_…`), never from an address, and stand in no message.

use benchwright_depot::{DepotError, Objects, check_name};
use bytes::Bytes;
use fault::Fault;
use futures_util::TryStreamExt as _;
use object_store::{
    ObjectStore, ObjectStoreExt as _, RetryConfig, aws::AmazonS3Builder, azure::MicrosoftAzureBuilder,
    gcp::GoogleCloudStorageBuilder, path::Path,
};
use std::{
    sync::{Arc, LazyLock, mpsc},
    thread,
    time::{Duration, Instant},
};
use tokio::runtime::{Builder, Runtime};
use wire::Wire;

mod fault;
mod wire;

/// How long a service that is away is waited for.
const PATIENCE: Duration = Duration::from_secs(120);
/// How long is waited between two tries, at first and at most.
const PAUSES: (Duration, Duration) = (Duration::from_millis(100), Duration::from_secs(5));

/// Where requests are made, for all callers. It is never dropped, which could not be done from within another runtime.
static RUNTIME: LazyLock<Result<Runtime, String>> = LazyLock::new(|| {
    let mut runtime = Builder::new_multi_thread();
    runtime.worker_threads(1).thread_name("cloud").enable_time();
    runtime.build().map_err(|why| format!("no thread for requests: {why}"))
});

/// The services, by the scheme of an address.
#[derive(Clone, Copy)]
enum Service {
    S3,
    Google,
    Azure,
}

/// The objects of a bucket below a prefix, as in `s3://BUCKET/PREFIX`, `gs://BUCKET/PREFIX` and `az://CONTAINER/PREFIX`. A bucket that is
/// not there, or whose names may not be listed, is refused here.
pub fn open(url: &str) -> Result<Arc<dyn Objects>, DepotError> {
    let bucket = Bucket::parse(url, PATIENCE)?;
    bucket.look()?;
    Ok(Arc::new(bucket))
}

struct Bucket {
    service: Service,
    store: Arc<dyn ObjectStore>,
    /// Its address, for messages.
    url: String,
    prefix: Path,
    patience: Duration,
}

/// What became of a read.
enum Read {
    Whole(Bytes),
    TooLarge,
}

impl Bucket {
    fn parse(url: &str, patience: Duration) -> Result<Bucket, DepotError> {
        let (scheme, rest) = url.split_once("://").unwrap_or(("", ""));
        let failed = |why: String| DepotError::Failed { place: format!("{scheme}://…"), why };
        let service = match scheme {
            "s3" => Service::S3,
            "gs" => Service::Google,
            "az" => Service::Azure,
            _ => return Err(failed("an address begins with s3://, gs:// or az://".to_owned())),
        };
        // What stands before an `@` or after a `?` is not repeated either.
        if rest.contains(['@', '?', '#', ':', '%']) || rest.contains(char::is_whitespace) {
            let from = service.credentials();
            return Err(failed(format!(
                "an address is a bucket and a prefix and nothing else; credentials come from {from}"
            )));
        }
        let (bucket, prefix) = rest.split_once('/').unwrap_or((rest, ""));
        let prefix = prefix.trim_end_matches('/');
        let url = format!("{scheme}://{rest}").trim_end_matches('/').to_owned();
        let failed = |why: String| DepotError::Failed { place: url.clone(), why };
        if bucket.is_empty() {
            return Err(failed(format!("an address names a bucket: {scheme}://BUCKET/PREFIX")));
        }
        let prefix = Path::parse(prefix).map_err(|why| failed(why.to_string()))?;
        let store = service.store(bucket).map_err(|why| failed(service.told(&why)))?;
        Ok(Bucket { service, store, prefix, url, patience })
    }

    /// That the bucket is there and may be listed.
    fn look(&self) -> Result<(), DepotError> {
        let list =
            |store: Arc<dyn ObjectStore>, path: Path| async move { store.list(Some(&path)).try_next().await.map(drop) };
        self.ask("", list).map(drop)
    }

    fn place_of(&self, name: &str) -> String {
        if name.is_empty() { self.url.clone() } else { format!("{}/{name}", self.url) }
    }

    fn path(&self, name: &str) -> Path {
        name.split('/').filter(|part| !part.is_empty()).fold(self.prefix.clone(), |path, part| path.join(part))
    }

    /// Asks until there is an answer or patience ends; so whatever is asked may be asked twice. Nothing where there is no such object.
    fn ask<T, F>(&self, name: &str, what: impl Fn(Arc<dyn ObjectStore>, Path) -> F) -> Result<Option<T>, DepotError>
    where
        T: Send + 'static,
        F: Future<Output = object_store::Result<T>> + Send + 'static,
    {
        let failed = |why: String| DepotError::Failed { place: self.place_of(name), why };
        let runtime = RUNTIME.as_ref().map_err(|why| failed(why.clone()))?;
        let mut pause = PAUSES.0;
        let mut since: Option<Instant> = None;
        loop {
            let (tell, told) = mpsc::sync_channel(1);
            let answer = what(self.store.clone(), self.path(name));
            runtime.spawn(async move { tell.send(answer.await) });
            let error = match told.recv() {
                Ok(Ok(answer)) => return Ok(Some(answer)),
                Ok(Err(error)) => error,
                Err(_) => return Err(failed("the request was given up".to_owned())),
            };
            let why = match Fault::of(&error) {
                Fault::Missing => return Ok(None),
                Fault::Away(why) => why,
                Fault::Final(_) => return Err(failed(self.service.told(&error))),
            };
            if since.get_or_insert_with(Instant::now).elapsed() + pause > self.patience {
                let (waited, at) = (self.patience.as_secs(), self.service.endpoint());
                return Err(failed(format!(
                    "no answer for {waited} s: {why}; see that the service is up and that {at} is right"
                )));
            }
            tracing::warn!(place = self.place_of(name), why, "the service is away; it is asked again");
            thread::sleep(pause);
            pause = PAUSES.1.min(pause * 2);
        }
    }

    fn missing(&self, name: &str) -> DepotError {
        DepotError::Missing { place: self.place_of(name) }
    }
}

impl Objects for Bucket {
    fn put(&self, name: &str, bytes: &[u8]) -> Result<(), DepotError> {
        check_name(name)?;
        let bytes = Bytes::copy_from_slice(bytes);
        let put = |store: Arc<dyn ObjectStore>, path: Path| {
            let bytes = bytes.clone();
            async move { store.put(&path, bytes.into()).await.map(drop) }
        };
        self.ask(name, put)?.ok_or_else(|| self.missing(name))
    }

    fn get(&self, name: &str, most: usize) -> Result<Vec<u8>, DepotError> {
        check_name(name)?;
        let get = |store: Arc<dyn ObjectStore>, path: Path| async move {
            let found = store.get(&path).await?;
            let size = found.meta.size;
            if size > most as u64 {
                return Ok(Read::TooLarge);
            }
            let bytes = found.bytes().await?;
            if bytes.len() as u64 == size { Ok(Read::Whole(bytes)) } else { Err(fault::cut_short()) }
        };
        match self.ask(name, get)?.ok_or_else(|| self.missing(name))? {
            Read::Whole(bytes) => Ok(bytes.into()),
            Read::TooLarge => Err(DepotError::TooLarge { place: self.place_of(name), most }),
        }
    }

    fn names(&self, under: &str) -> Result<Vec<String>, DepotError> {
        if !under.is_empty() {
            check_name(under)?;
        }
        let list = |store: Arc<dyn ObjectStore>, path: Path| async move {
            let all: Vec<_> = store.list(Some(&path)).try_collect().await?;
            let below = all.iter().filter_map(|object| object.location.as_ref().strip_prefix(path.as_ref()));
            Ok(below.map(|name| name.trim_start_matches('/').to_owned()).collect::<Vec<String>>())
        };
        let mut names = self.ask(under, list)?.unwrap_or_default();
        names.retain(|name| check_name(name).is_ok());
        names.sort();
        Ok(names)
    }

    fn remove(&self, name: &str) -> Result<(), DepotError> {
        check_name(name)?;
        let remove = |store: Arc<dyn ObjectStore>, path: Path| async move { store.delete(&path).await };
        self.ask(name, remove).map(drop)
    }

    fn has(&self, name: &str) -> Result<bool, DepotError> {
        check_name(name)?;
        let head = |store: Arc<dyn ObjectStore>, path: Path| async move { store.head(&path).await.map(drop) };
        Ok(self.ask(name, head)?.is_some())
    }

    fn place(&self) -> String {
        self.url.clone()
    }
}

impl Service {
    /// A bucket of it, as the environment says how to reach it. Requests are repeated by `Bucket::ask` only.
    fn store(self, bucket: &str) -> object_store::Result<Arc<dyn ObjectStore>> {
        let once = RetryConfig { max_retries: 0, ..RetryConfig::default() };
        Ok(match self {
            Service::S3 => {
                // Not every service that speaks S3 takes lists of what is to be deleted.
                let builder = AmazonS3Builder::from_env().with_disable_bulk_delete(true);
                Arc::new(builder.with_bucket_name(bucket).with_retry(once).with_http_connector(Wire).build()?)
            }
            Service::Google => {
                let builder = GoogleCloudStorageBuilder::from_env().with_bucket_name(bucket);
                Arc::new(builder.with_retry(once).with_http_connector(Wire).build()?)
            }
            Service::Azure => {
                let builder = MicrosoftAzureBuilder::from_env().with_container_name(bucket);
                Arc::new(builder.with_retry(once).with_http_connector(Wire).build()?)
            }
        })
    }

    /// What the environment has of whoever asks.
    fn credentials(self) -> &'static str {
        match self {
            Service::S3 => "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY in the environment",
            Service::Google => "GOOGLE_SERVICE_ACCOUNT in the environment",
            Service::Azure => "AZURE_STORAGE_ACCOUNT_NAME and AZURE_STORAGE_ACCOUNT_KEY in the environment",
        }
    }

    /// What the environment has of where it is.
    fn endpoint(self) -> &'static str {
        match self {
            Service::S3 => "AWS_ENDPOINT_URL",
            Service::Google => "GOOGLE_BASE_URL",
            Service::Azure => "AZURE_STORAGE_ENDPOINT",
        }
    }

    /// Why something will not succeed, and the next step.
    fn told(self, error: &object_store::Error) -> String {
        let credentials = self.credentials();
        match Fault::of(error) {
            Fault::Missing => "there is nothing of that name".to_owned(),
            Fault::Away(why) => why,
            Fault::Final(why) => why.told(credentials),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(url: &str) -> String {
        Bucket::parse(url, PATIENCE).err().expect(url).to_string()
    }

    #[test]
    fn an_address_is_a_bucket_and_a_prefix() {
        let bucket = Bucket::parse("s3://bucket/runs/one/", PATIENCE).unwrap();
        assert_eq!(bucket.place(), "s3://bucket/runs/one");
        assert_eq!(bucket.path("a/b.c").as_ref(), "runs/one/a/b.c");
        assert_eq!(Bucket::parse("gs://bucket", PATIENCE).unwrap().path("a").as_ref(), "a");
        assert!(refused("ftp://bucket").contains("s3://"));
        assert!(refused("bucket").contains("s3://"));
        assert!(refused("s3:///runs").contains("names a bucket"));
        assert!(refused("s3://bucket/a//b").starts_with("s3://bucket/a//b: "));
    }

    #[test]
    fn credentials_in_an_address_are_refused_and_not_repeated() {
        for url in ["s3://key:secret@bucket/runs", "az://bucket/runs?sig=secret", "s3://bucket/runs#secret"] {
            let told = refused(url);
            assert!(told.contains("in the environment") && !told.contains("secret"), "{told}");
        }
    }

    #[test]
    fn a_service_that_stays_away_is_told_with_its_address() {
        let store: Arc<dyn ObjectStore> = {
            let builder = AmazonS3Builder::new().with_bucket_name("bucket").with_endpoint("http://127.0.0.1:1");
            let builder = builder.with_allow_http(true).with_access_key_id("key").with_secret_access_key("secret");
            let once = RetryConfig { max_retries: 0, ..RetryConfig::default() };
            Arc::new(builder.with_retry(once).with_http_connector(Wire).build().unwrap())
        };
        let (url, prefix) = ("s3://bucket".to_owned(), Path::default());
        let bucket = Bucket { service: Service::S3, store, url, prefix, patience: Duration::from_millis(400) };
        // A runtime around it changes nothing.
        let outer = Builder::new_current_thread().build().unwrap();
        let told = outer.block_on(async { bucket.put("a", b"bytes") }).unwrap_err().to_string();
        assert!(told.starts_with("s3://bucket/a: no answer for 0 s: ") && told.contains("AWS_ENDPOINT_URL"), "{told}");
        assert!(told.contains("refused") && !told.contains("secret"), "{told}");
    }
}
