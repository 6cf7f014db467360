//! `sutura target`

use serde_json::{Map, Value, json};
use sutura_dialects::target::RegisterTile;
use sutura_ir::Context;
use sutura_ir::asm::print::{PrintOptions, module_text};

use crate::cli::{TargetArgs, TargetCommand};
use crate::failure::{Failure, Kind};
use crate::files::{say, write};
use crate::machine::{Machine, Wanted};
use crate::probe::probe;
use crate::talk::Talk;

pub(crate) fn target(args: &TargetArgs, talk: &Talk) -> Result<(), Failure> {
    let cx = Context::new(sutura_dialects::all());
    let wanted = Wanted { name: None, file: args.target_file.as_deref() };
    match &args.command {
        TargetCommand::List => list(&cx, wanted, talk),
        TargetCommand::Host => host(&cx, wanted, talk),
        TargetCommand::Probe { output, name } => probe(&cx, wanted, output, name, talk),
        TargetCommand::Show { name } => {
            let (_, description) = Wanted { name: name.as_deref(), ..wanted }.find(&cx, talk)?;
            let text = module_text(&cx, &description.module, &PrintOptions::default());
            write("-".as_ref(), text.as_bytes())
        }
    }
}

fn list(cx: &Context, wanted: Wanted<'_>, talk: &Talk) -> Result<(), Failure> {
    let all = wanted.all(cx, talk)?;
    let host = match wanted.host(cx, talk) {
        Ok((host, _)) => Some(host.desc.name),
        // Machines can be listed on one that no code can be generated for.
        Err(failure) if failure.kind == Kind::Unsupported => None,
        Err(failure) => return Err(failure),
    };
    let width = all.iter().map(|machine| machine.desc.name.len()).max().unwrap_or(0);
    for machine in all {
        let desc = &machine.desc;
        if talk.is_json() {
            let mut fields = fields(&machine);
            fields.insert("is_host".to_owned(), json!(host.as_ref() == Some(&desc.name)));
            talk.result("target", fields)?;
            continue;
        }
        let mark = if host.as_ref() == Some(&desc.name) { "  (this machine)" } else { "" };
        say(&format!("{:<width$}  {}; {}{mark}", desc.name, desc.summary, machine.origin))?;
    }
    Ok(())
}

/// What is said of a machine to programs.
fn fields(machine: &Machine) -> Map<String, Value> {
    let fields = [
        ("name", json!(machine.desc.name)),
        ("summary", json!(machine.desc.summary)),
        ("origin", json!(machine.origin)),
        ("description_hash", json!(machine.description_hash())),
        ("triple", json!(machine.target.triple)),
        ("features", json!(machine.target.features)),
    ];
    Map::from_iter(fields.map(|(name, value)| (name.to_owned(), value)))
}

fn host(cx: &Context, wanted: Wanted<'_>, talk: &Talk) -> Result<(), Failure> {
    let (host, _) = wanted.host(cx, talk)?;
    let desc = &host.desc;
    if talk.is_json() {
        let mut fields = fields(&host);
        let tile = |tile: &RegisterTile| json!({"name": tile.name, "mr": tile.mr, "nr": tile.nr, "kr": tile.kr});
        fields.insert("registers".to_owned(), json!(desc.registers()));
        fields.insert("vector_bytes".to_owned(), json!(desc.vector_bytes()));
        fields.insert("intrinsics".to_owned(), desc.register_tiles.iter().map(tile).collect());
        return talk.result("target", fields);
    }
    say(&format!("description: {} ({}; {})", desc.name, host.origin, host.description_hash()))?;
    say(&format!("triple:      {}", host.target.triple))?;
    say(&format!("vectors:     {} of {} bytes", desc.registers(), desc.vector_bytes()))?;
    for tile in &desc.register_tiles {
        say(&format!("intrinsic:   {} [{}, {}] by [{}, {}]", tile.name, tile.mr, tile.kr, tile.kr, tile.nr))?;
    }
    say(&format!("features:    {}", host.target.features))
}
