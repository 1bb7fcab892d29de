//! Every class of damage is noticed, where it is; a few of each here, thousands with `cargo xtask tamper`.

use crate::tamper::{BUNDLES, CLASSES, Class, Outcome, Real, bases, cleans, on_real, run_class};
use crate::writer::{Shape, shape};

fn demand_right(outcome: &Outcome, least: u64, class: &Class) {
    let Class { name, answer, .. } = class;
    assert_eq!(outcome.wrong, 0, "{name} ({answer}): {:#?}", outcome.told);
    assert!(outcome.tried >= least, "{name}: applied to {} logs only", outcome.tried);
}

#[test]
fn each_class_of_damage_is_noticed_where_it_is() {
    let folder = tempfile::tempdir().expect("a folder");
    let bases = bases(2, 100, folder.path());
    for class in CLASSES.iter().chain([&BUNDLES]) {
        let outcome = run_class(class, &bases, 6, folder.path(), &mut |_| {});
        demand_right(&outcome, 6, class);
    }
}

#[test]
fn clean_logs_give_no_false_alarm() {
    let folder = tempfile::tempdir().expect("a folder");
    let outcome = cleans(20, 9000, folder.path());
    assert_eq!((outcome.tried, outcome.wrong), (20, 0), "{:#?}", outcome.told);
}

#[test]
fn a_file_is_enough_to_break_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("kept.db");
    shape(Shape::Epochs, 77).save(&path);
    let bases = on_real(&[Real(path)]);
    for class in CLASSES.iter().filter(|class| class.is_of_files()) {
        demand_right(&run_class(class, &bases, 3, folder.path(), &mut |_| {}), 3, class);
    }
}
