#!/bin/sh
# Installs Abide from this folder, or removes what it has installed.
#
# Usage: install.sh [--prefix DIR] [--without-window]
#        install.sh [--prefix DIR] --uninstall
#
# DIR is ~/.local unless it is given. The programs work without it too: bin/abide finds bin/abided beside it. PREFIX/share/abide/manifest
# lists what was installed; only that is replaced and removed, and a file that was changed since is not.
set -eu
umask 022
unset CDPATH
here=$(cd "$(dirname "$0")" && pwd)

say() { printf '%s\n' "$*"; }
fail() {
    printf 'install.sh: %s\n' "$*" >&2
    exit 1
}

prefix='' window=yes uninstall=''
while [ $# -gt 0 ]; do
    case "$1" in
    --prefix)
        [ $# -gt 1 ] || fail "--prefix needs a folder"
        prefix=$2
        shift
        ;;
    --without-window) window='' ;;
    --uninstall) uninstall=yes ;;
    --help)
        sed -n '2,/^set/ s/^# \{0,1\}//p' "$0"
        exit
        ;;
    *) fail "$1 is no option: --prefix DIR, --without-window, --uninstall" ;;
    esac
    shift
done
# The copy that was installed belongs to the folder that it lies in, also if that was moved.
is_archive=yes
case "$here" in
*/share/abide)
    is_archive=''
    prefix=${prefix:-${here%/share/abide}}
    ;;
esac
[ -n "${prefix:-${HOME:-}}" ] || fail "there is no HOME: name a folder with --prefix DIR"
prefix=${prefix:-$HOME/.local}
case "$prefix" in /*) ;; *) prefix=$PWD/$prefix ;; esac
prefix=${prefix%/}

manifest=share/abide/manifest
stage="$prefix/.abide-install"

# Whether a file is as it was installed.
is_ours() { # path beneath the prefix
    [ -f "$prefix/$1" ] && [ ! -L "$prefix/$1" ] && [ -f "$prefix/$manifest" ] &&
        grep -qxF "$(cd "$prefix" && sha256sum "$1")" "$prefix/$manifest"
}

is_there() { [ -e "$prefix/$1" ] || [ -L "$prefix/$1" ]; }

# The files of a manifest, or its folders, deepest first.
files_of() { sed -n 's/^[0-9a-f]\{64\}  //p' "$1" | sort -u; }
folders_of() { sed -n 's/^folder  //p' "$1" | sort -ru; }

uninstall() {
    [ -f "$prefix/$manifest" ] || fail "nothing is installed in $prefix: there is no $prefix/$manifest"
    changed=''
    folders=$(folders_of "$prefix/$manifest")
    # The manifest goes last, so that a removal that was cut off can be repeated.
    for path in $(files_of "$prefix/$manifest"); do
        if is_ours "$path"; then
            rm "$prefix/$path"
        elif is_there "$path"; then
            changed="$changed
  $prefix/$path"
        fi
    done
    rm "$prefix/$manifest"
    for folder in $folders; do
        rmdir "$prefix/$folder" 2>/dev/null || true
    done
    [ -z "$changed" ] || say "Kept, because they were changed since they were installed:$changed"
    say "Removed Abide from $prefix. Data, configuration and logs stay. A daemon that runs goes on until it ends."
}

# Everything that needs room is written beside its place first; after that there are only renames.
install_all() {
    [ -n "$is_archive" ] ||
        fail "this is the copy that was installed, which can only --uninstall; to install, run the one of an archive"
    case "$prefix" in
    *[[:space:]\"\'\\,\&%\$\;\`]*) fail "$prefix: a unit or a menu entry cannot name such a folder; choose one without spaces and signs" ;;
    esac
    sources=$(cd "$here" && find bin lib share -type f | sort)
    [ -n "$window" ] || sources=$(printf '%s\n' "$sources" | grep -vxFf "$here/window-files")
    refuse_foreign

    [ ! -e "$stage" ] ||
        fail "$stage is there: another installation is at work, or was cut off. If none is at work, remove it and try again"
    { mkdir -p "$prefix" && mkdir "$stage"; } || fail "not installed: $prefix cannot be written"
    made='' changing=''
    trap undo EXIT
    trap 'exit 130' INT
    trap 'exit 143' TERM HUP
    write
    changing=yes
    mv -f "$stage/both" "$prefix/$manifest"
    for path in $targets; do mv -f "$stage/new/$path" "$prefix/$path"; done
    # The new version is in place: nothing is put back from here on.
    trap unfinished EXIT
    tidy_up
    trap - EXIT INT TERM HUP
    say "Installed Abide in $prefix."
    case ":${PATH:-}:" in
    *":$prefix/bin:"*) say "To begin: abide demo" ;;
    *) say "To begin: $prefix/bin/abide demo ($prefix/bin is not in your PATH)" ;;
    esac
}

# Removes what an older version had and this one has not.
tidy_up() {
    files_of "$prefix/$manifest" | while read -r path; do
        if ! grep -qxF "$path" "$stage/targets" && is_ours "$path"; then rm "$prefix/$path"; fi
    done
    mv -f "$stage/manifest" "$prefix/$manifest"
    rm -rf "$stage"
}

# The manifest still has the old files and the new ones, so that the same once more goes on where this ended.
unfinished() {
    trap - EXIT
    trap '' INT TERM HUP
    rm -rf "$stage" || say "Remove $stage by hand." >&2
    fail "the new version is in place in $prefix and can be used, but files of the older one may be left, for the reason above; run this again"
}

refuse_foreign() {
    foreign=''
    for path in $sources share/abide/install.sh; do
        if is_there "${path%.in}" && ! is_ours "${path%.in}"; then
            foreign="$foreign
  $prefix/${path%.in}"
        fi
    done
    [ -z "$foreign" ] || fail "these files are not from an installation of Abide, or were changed since:$foreign
Nothing was changed. Move them away and try again."
}

write() {
    for path in $sources; do
        new="$stage/new/${path%.in}"
        mkdir -p "$(dirname "$new")"
        case "$path" in
        *.in) sed "s,@bindir@,$prefix/bin,; s,@share@,$prefix/share," "$here/$path" >"$new" ;;
        *) cp "$here/$path" "$new" ;;
        esac
        if [ -x "$here/$path" ]; then chmod 755 "$new"; fi
    done
    cp "$here/install.sh" "$stage/new/share/abide/install.sh"
    (cd "$stage/new" && find . -type f | sed 's,^\./,,' | sort) >"$stage/targets"
    targets=$(cat "$stage/targets")
    (cd "$stage/new" && sha256sum $targets) >"$stage/manifest"
    for folder in $(cd "$stage/new" && find . -type d | sed -n 's,^\./,,p' | sort); do
        mkdir -p "$stage/old/$folder"
        if [ ! -d "$prefix/$folder" ]; then
            mkdir "$prefix/$folder"
            made="$folder $made"
            say "folder  $folder" >>"$stage/manifest"
        fi
    done
    # While files are replaced, the manifest has the old ones and the new ones.
    cp "$stage/manifest" "$stage/both"
    if [ -f "$prefix/$manifest" ]; then
        cat "$prefix/$manifest" >>"$stage/both"
        grep '^folder  ' "$prefix/$manifest" >>"$stage/manifest" || true
    fi
    for path in $targets $manifest; do
        if is_there "$path"; then ln "$prefix/$path" "$stage/old/$path" || cp -p "$prefix/$path" "$stage/old/$path"; fi
    done
}

undo() {
    trap - EXIT
    trap '' INT TERM HUP
    # One failure must not keep the rest from being put back.
    set +e
    lost=''
    if [ -n "$changing" ]; then
        for path in $targets $manifest; do
            if [ -e "$stage/new/$path" ]; then
                : # not replaced yet
            elif [ -e "$stage/old/$path" ]; then
                mv -f "$stage/old/$path" "$prefix/$path" || lost="$lost
  $prefix/$path"
            else
                rm -f "$prefix/$path" || lost="$lost
  $prefix/$path"
            fi
        done
    fi
    [ -z "$lost" ] || fail "not installed, for the reason above, and these files could not be put back:$lost
Those of the version before are in $stage/old. Move them to their places, remove the others that are named here, and then $stage."
    for folder in $made; do rmdir "$prefix/$folder"; done
    rm -rf "$stage"
    fail "not installed, for the reason above; what was there before is as it was"
}

if [ -n "$uninstall" ]; then uninstall; else install_all; fi
exit
