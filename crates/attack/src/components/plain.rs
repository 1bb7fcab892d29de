//! The control: a host without limits that gives a component whatever it asks for, one caller after the other.
//!
//! An engine without fuel, deadlines and caps; one instance for all calls; this host's streams, variables, network and
//! files, found as plain code finds them; and an answer for every import.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;

use wasmtime::component::{Component, Instance, Linker, LinkerInstance, ResourceTable, Val};
use wasmtime::{Config, Engine, Store, StoreContextMut};
use wasmtime_wasi::{FsPerms, I32Exit, WasiCtxBuilder};

use super::call::{CallAction, ComponentCall, SetupResult, begin, end, tell};
use super::plain_files::{self, PlainState};
use crate::trial_folder::SECRET;

/// Bytes of stack that a component may use: more than there are.
const STACK_BYTES: usize = 1 << 30;

/// Calls a component on this thread.
pub(super) fn call(spec: &ComponentCall) -> SetupResult<()> {
    if spec.ask == CallAction::Add {
        begin()?;
    }
    let engine = Engine::new(&settings())?;
    let component = Component::new(&engine, fs::read(&spec.component)?)?;
    let mut linker = Linker::new(&engine);
    everything(&mut linker, &component)?;
    let mut store = store(&engine, spec)?;
    if spec.ask == CallAction::Add {
        end("it was compiled");
    } else {
        begin()?;
        let instance = linker.instantiate(&mut store, &component)?;
        let answer = ask(&mut store, &instance, spec.ask, &spec.arguments);
        if let Some(exit) = answer.as_ref().err().and_then(|error| error.downcast_ref::<I32Exit>()) {
            std::process::exit(exit.0);
        }
        end(&answer.unwrap_or_else(|error| format!("{error:#}")));
        if let Some(again) = &spec.again
            && let Ok(answer) = ask(&mut store, &instance, spec.ask, again)
        {
            tell(&format!("then {answer}"));
            tell("beside");
        }
    }
    if let Some(honest) = &spec.beside {
        let honest = ComponentCall { component: honest.clone(), beside: None, again: None, ..spec.clone() };
        if answered(&engine, &honest).is_ok() {
            tell("beside");
        }
    }
    Ok(())
}

fn answered(engine: &Engine, spec: &ComponentCall) -> SetupResult<String> {
    let component = Component::new(engine, fs::read(&spec.component)?)?;
    let mut linker = Linker::new(engine);
    everything(&mut linker, &component)?;
    let mut store = store(engine, spec)?;
    let instance = linker.instantiate(&mut store, &component)?;
    Ok(ask(&mut store, &instance, CallAction::Run, "told")?)
}

fn settings() -> Config {
    let mut config = Config::new();
    config.max_wasm_stack(STACK_BYTES).async_stack_size(2 * STACK_BYTES);
    config
}

fn store(engine: &Engine, spec: &ComponentCall) -> SetupResult<Store<PlainState>> {
    let mut wasi = WasiCtxBuilder::new();
    wasi.inherit_stdio().inherit_env().inherit_network().allow_ip_name_lookup(true).max_random_size(u64::MAX);
    if !spec.work.as_os_str().is_empty() {
        wasi.preopened_dir("/", "/workspace", FsPerms::ReadWrite)?;
    }
    let mut table = ResourceTable::new();
    table.set_max_capacity(usize::MAX);
    let mut store = Store::new(engine, PlainState { table, wasi: wasi.build(), work: spec.work.clone() });
    store.set_hostcall_fuel(usize::MAX);
    store.set_max_component_handles(usize::MAX);
    Ok(store)
}

fn ask(
    store: &mut Store<PlainState>,
    instance: &Instance,
    ask: CallAction,
    arguments: &str,
) -> wasmtime::Result<String> {
    let mut results = [Val::Bool(false)];
    match ask {
        CallAction::Run => {
            let run = instance.get_func(&mut *store, "run").ok_or_else(|| wasmtime::format_err!("no run"))?;
            run.call(&mut *store, &[Val::String(arguments.to_owned())], &mut results)?;
        }
        CallAction::Describe | CallAction::Add => {
            let told = instance.get_func(&mut *store, "describe");
            told.ok_or_else(|| wasmtime::format_err!("no describe"))?.call(&mut *store, &[], &mut results)?;
        }
    }
    Ok(match &results[0] {
        Val::Result(Ok(Some(text)) | Err(Some(text))) => match &**text {
            Val::String(text) => text.clone(),
            _ => String::new(),
        },
        _ => String::new(),
    })
}

fn everything(linker: &mut Linker<PlainState>, component: &Component) -> SetupResult<()> {
    linker.allow_shadowing(true);
    wasmtime_wasi::p2::add_to_linker_sync(linker)?;
    plain_files::add_to_linker(linker)?;
    let asks = |_: StoreContextMut<'_, PlainState>, _, given: &[Val], told: &mut [Val]| {
        told[0] = answer_of(&fetch(&given[0]));
        Ok(())
    };
    linker.instance("palyra:tool/http@1.0.0")?.func_new("fetch", asks)?;
    linker.instance("palyra:tool/key-value@1.0.0")?.func_new("get", |_, _, _, told| {
        told[0] = good(Val::Option(Some(Box::new(bytes(SECRET.as_bytes())))));
        Ok(())
    })?;
    shell(&mut linker.instance("palyra:tool/shell@1.0.0")?)?;
    itself(linker, component)?;
    // It has types only.
    linker.instance("palyra:tool/description@1.0.0")?;
    Ok(())
}

fn shell(linker: &mut LinkerInstance<'_, PlainState>) -> wasmtime::Result<()> {
    linker.func_wrap("run", |_, (line,): (String,)| {
        std::process::Command::new("/bin/sh").args(["-c", &line]).status()?;
        Ok(())
    })
}

/// A component that calls tools calls itself, too.
fn itself(linker: &mut Linker<PlainState>, component: &Component) -> wasmtime::Result<()> {
    let (engine, component) = (linker.engine().clone(), component.clone());
    linker.instance("palyra:tool/run@1.0.0")?.func_wrap("run", move |_, (arguments,): (String,)| {
        // Each has a folder open otherwise, and there are only so many of those.
        let spec = ComponentCall::of(PathBuf::new(), PathBuf::new(), PathBuf::new());
        let told = |error: Box<dyn std::error::Error + Send + Sync>| wasmtime::format_err!("{error}");
        let mut linker = Linker::new(&engine);
        everything(&mut linker, &component).map_err(told)?;
        let mut store = store(&engine, &spec).map_err(told)?;
        let instance = linker.instantiate(&mut store, &component)?;
        ask(&mut store, &instance, CallAction::Run, &arguments).map(drop)
    })
}

fn good(answer: Val) -> Val {
    Val::Result(Ok(Some(Box::new(answer))))
}

fn bytes(bytes: &[u8]) -> Val {
    Val::List(bytes.iter().map(|&byte| Val::U8(byte)).collect())
}

fn answer_of(body: &[u8]) -> Val {
    let field = |name: &str, value| (name.to_owned(), value);
    good(Val::Record(vec![
        field("status", Val::U16(200)),
        field("headers", Val::List(Vec::new())),
        field("body", bytes(body)),
        field("truncated", Val::Bool(false)),
    ]))
}

fn text_of<'a>(record: &'a Val, name: &str) -> &'a str {
    let Val::Record(fields) = record else { return "" };
    match fields.iter().find(|(field, _)| field == name) {
        Some((_, Val::String(text))) => text,
        Some(_) | None => "",
    }
}

/// Asks whatever it is told, and follows where it is sent.
fn fetch(request: &Val) -> Vec<u8> {
    let (mut url, method) = (text_of(request, "url").to_owned(), text_of(request, "method"));
    for _ in 0..3 {
        let answer = ask_once(&url, method).unwrap_or_default();
        let text = String::from_utf8_lossy(&answer).into_owned();
        let Some((_, to)) = text.split_once("location: ") else { return answer };
        url = to.lines().next().unwrap_or_default().to_owned();
    }
    Vec::new()
}

fn ask_once(url: &str, method: &str) -> SetupResult<Vec<u8>> {
    let url = url::Url::parse(url)?;
    let mut stream = TcpStream::connect(&*url.socket_addrs(|| Some(80))?)?;
    let request = format!("{method} {} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n", url.path());
    stream.write_all(request.as_bytes())?;
    let mut answer = Vec::new();
    stream.take(1 << 16).read_to_end(&mut answer)?;
    Ok(answer)
}
