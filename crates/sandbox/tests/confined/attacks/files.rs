//! Files that lie elsewhere, by every road to them.

use super::By::{Python, Shell};
use super::{check, check_in_namespaces};

#[tokio::test(flavor = "multi_thread")]
async fn a_file_is_read() {
    check(Shell(r#"cat "$OUT/file""#)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_is_written() {
    check(Shell(r#"echo dead > "$OUT/file""#)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_is_removed() {
    check(Shell(r#"rm "$OUT/file""#)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_is_made() {
    check(Shell(r#"echo new > "$OUT/new""#)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_is_renamed() {
    check(Shell(r#"mv "$OUT/file" "$OUT/other""#)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_is_cut() {
    check(Python("import os; os.truncate(os.environ['OUT'] + '/file', 0)")).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hard_link_reaches_out() {
    check(Shell(r#"ln "$OUT/file" in && echo dead > in"#)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_symlink_reaches_out() {
    check(Shell(r#"ln -s "$OUT/file" out && cat out"#)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_folder_link_reaches_out() {
    check(Shell(r#"ln -s "$OUT" dir && echo new > dir/new"#)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn dots_reach_out() {
    check(Shell(r#"cat "../outside/file""#)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_root_of_a_process_reaches_out() {
    check(Shell(r#"cat "/proc/self/root$OUT/file" "/proc/$VICTIM/root$OUT/file""#)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_root_of_process_one_reaches_out() {
    check(Shell(r#"cat "/proc/1/root$OUT/file" || cat "$OUT/file""#)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_folder_of_a_process_reaches_out() {
    check(Shell(r#"cat "/proc/$DAEMON/cwd/../../$OUT/file" "/proc/$DAEMON/root/$OUT/file""#)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn old_roots_are_entered() {
    check(Shell(r#"cat "/proc/1/cwd/$OUT/file" "/proc/1/fd/"* ".$OUT/file" "$OUT/file" 2>/dev/null; true"#))
        .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_setuid_program_is_left_behind() {
    check(Shell(r#"cp /bin/true keep && chmod 4755 keep && [ -u keep ] && echo canary-7f3a91"#)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_new_namespace_gives_the_host_back() {
    check(Shell(r#"unshare -Ur cat "$OUT/file" || unshare -Urm sh -c 'umount /tmp; cat "$OUT/file"'"#)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_mount_gives_the_host_back() {
    check(Shell(r#"unshare -Urm sh -c 'mkdir -p m && mount --rbind / m && cat "m$OUT/file"'"#)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_mode_is_changed() {
    check_in_namespaces(Shell(r#"chmod 777 "$OUT/file""#)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_time_is_changed() {
    check_in_namespaces(Shell(r#"touch -c -h "$OUT/file""#)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_attribute_is_set() {
    check_in_namespaces(Python("import os; os.setxattr(os.environ['OUT'] + '/file', 'user.a', b'a')")).await;
}
