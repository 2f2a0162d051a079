#!/bin/sh
# Installs aw for this user, from the packages of a release.
#   install.sh [--from PLACE] [--prefix FOLDER]  fetches, verifies and installs; again to update
#   install.sh --uninstall [--prefix FOLDER]     removes what it has installed, and nothing else
# PLACE has SHA256SUMS and the tarballs: a URL or a folder, also AW_BASE_URL. FOLDER is ~/.local unless named.
set -eu

url=${AW_BASE_URL:-@BASE_URL@}
prefix=${HOME:?}/.local
uninstall=

say() { printf '%s\n' "$*"; }
fail() {
    say "install: $*" >&2
    exit 1
}
has() { command -v "$1" >/dev/null 2>&1; }

usage() { say "usage: install.sh [--from URL|FOLDER] [--prefix FOLDER] [--uninstall]"; }

main() {
    while [ $# -gt 0 ]; do
        case $1 in
        --from) url=${2:?--from takes a URL or a folder} && shift 2 ;;
        --prefix) prefix=${2:?--prefix takes a folder} && shift 2 ;;
        --uninstall) uninstall=1 && shift ;;
        -h | --help) usage && exit ;;
        *)
            usage >&2
            exit 2
            ;;
        esac
    done
    case $prefix in /*) ;; *) prefix=$PWD/$prefix ;; esac
    # The files that were installed, with their checksums, and the folders that were made for them.
    list=$prefix/share/aw/installed
    if [ -n "$uninstall" ]; then uninstall; else install; fi
}

install() {
    case $url in
    http://* | https://*) ;;
    '' | @*)
        fail "this copy does not know where its packages are: take install.sh from a release, or name the URL or the" \
            "folder that has SHA256SUMS and the tarball: sh install.sh --from PLACE"
        ;;
    *)
        [ -d "$url" ] || fail "$url is no folder, and no http or https URL: name the one that has SHA256SUMS and the tarball"
        url=$(cd "$url" && pwd)
        ;;
    esac
    platform=$(platform)
    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT
    trap 'exit 1' INT TERM HUP
    fetch "$url/SHA256SUMS" "$work/sums"
    line=$(grep -E "^[0-9a-f]{64}  aw-[0-9A-Za-z.+-]+-$platform\.tar\.gz$" "$work/sums" | head -n 1) || true
    [ -n "$line" ] || fail "$url has no package for $platform"
    tarball=${line#*  }
    fetch "$url/$tarball" "$work/$tarball"
    [ "$(sha256 "$work/$tarball")" = "${line%%  *}" ] ||
        fail "$tarball is not what SHA256SUMS says: nothing was installed. Try again later, or tell the people who publish it"
    mkdir "$work/new"
    tar -xzf "$work/$tarball" -C "$work/new" --strip-components=1
    cd "$work/new"
    [ -x bin/aw ] && ./bin/aw --version >"$work/version" || fail "the program in $tarball does not run on this machine"
    find . -type f | sed 's|^\./||' | sort >"$work/files"

    # A file that this script has not installed stays, and so does everything else.
    while IFS= read -r file; do
        [ ! -e "$prefix/$file" ] && [ ! -L "$prefix/$file" ] && continue
        is_listed "$file" || fail "$prefix/$file is there already, and is not from install.sh: remove it, or choose another --prefix"
    done <"$work/files"

    : >"$work/list"
    [ ! -e "$list" ] || grep '^folder ' "$list" >"$work/list" || true
    folder_for "$list"
    while IFS= read -r file; do
        folder_for "$prefix/$file"
        # A program that runs is replaced, not written over.
        cp -p "$file" "$prefix/$file.new"
        mv -f "$prefix/$file.new" "$prefix/$file"
        say "$(sha256 "$file") $file" >>"$work/list"
    done <"$work/files"
    # Files of an older version that the new one has no more.
    if [ -e "$list" ]; then
        while read -r sum file; do
            [ "$sum" = folder ] || grep -qxF "$file" "$work/files" || remove "$sum" "$file"
        done <"$list"
    fi
    cp "$work/list" "$list"

    say "Installed $(cat "$work/version") at $prefix/bin/aw"
    case :$PATH: in
    *:"$prefix/bin":*) ;;
    *) say "Add it to your PATH: export PATH=\"$prefix/bin:\$PATH\"" ;;
    esac
    say "See it work: aw demo. To undo this: install.sh --uninstall$([ "$prefix" = "$HOME/.local" ] || say " --prefix $prefix")"
}

uninstall() {
    [ -e "$list" ] || fail "nothing is installed below $prefix"
    while read -r sum file; do
        [ "$sum" = folder ] || remove "$sum" "$file"
    done <"$list"
    folders=$(sed -n 's/^folder //p' "$list" | sort -r)
    rm "$list"
    say "$folders" | while IFS= read -r folder; do
        # A folder that holds something else stays.
        [ -z "$folder" ] || rmdir "$folder" 2>/dev/null || true
    done
    say "Removed aw from $prefix. Your debates stay in ~/.aweave; a server that runs stays until it ends."
}

# Removes an installed file, unless somebody has changed it since.
remove() {
    [ -e "$prefix/$2" ] || return 0
    if [ "$(sha256 "$prefix/$2")" = "$1" ]; then
        rm "$prefix/$2"
    else
        say "$prefix/$2 was changed since it was installed, and stays"
    fi
}

is_listed() { [ -e "$list" ] && grep -qE "^[0-9a-f]{64} " "$list" && sed -n 's/^[0-9a-f]* //p' "$list" | grep -qxF "$1"; }

# Makes the folders that lead to a file, and lists those that were not there.
folder_for() {
    [ -d "$(dirname "$1")" ] && return
    folder_for "$(dirname "$1")"
    mkdir "$(dirname "$1")" || fail "$(dirname "$1") cannot be made: choose another --prefix"
    say "folder $(dirname "$1")" >>"$work/list"
}

platform() {
    case $(uname -s) in Linux) system=linux ;; Darwin) system=macos ;; *) fail "there is no package for $(uname -s)" ;; esac
    case $(uname -m) in
    x86_64 | amd64) machine=x86_64 ;;
    aarch64 | arm64) machine=aarch64 ;;
    *) fail "there is no package for $(uname -m)" ;;
    esac
    say "$system-$machine"
}

# Fetches over https only, also after a redirect, unless the user has named an http URL.
fetch() {
    if [ "${1#/}" != "$1" ]; then
        cp "$1" "$2" || fail "$1 cannot be read"
    elif has curl; then
        case $1 in https:*) schemes='=https' ;; *) schemes='=http,https' ;; esac
        curl -fsSL --proto "$schemes" --proto-redir "$schemes" "$1" -o "$2" || fail "$1 cannot be fetched"
    elif has wget; then
        # Its --https-only does not apply to redirects. A proxy for http where none listens ends those.
        case $1 in
        https:*) http_proxy=http://127.0.0.1:1 no_proxy='' wget -q "$1" -O "$2" ;;
        *) wget -q "$1" -O "$2" ;;
        esac || fail "$1 cannot be fetched"
    else
        fail "curl or wget is needed"
    fi
}

sha256() {
    if has sha256sum; then sha256sum "$1"; else shasum -a 256 "$1"; fi | cut -d ' ' -f 1
}

# In one piece, so that a download that was cut off does nothing.
main "$@"
