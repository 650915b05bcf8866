#!/bin/sh
# Unpacks Apptainer into a private directory, touching nothing of the system, and prints that directory.
# For tests, and to try the engine on a machine without it; a cluster has its own. Debian amd64 only: Apptainer is in
# Debian's unstable release, and so is the C library that it needs, which is used by nothing else.
# usage: scripts/unpack-apptainer.sh [DIRECTORY]     exit status 3, with one line, where it can't be had
set -eu
version=1.4.5-2
apptainer=apptainer_1.4.5-2_amd64.deb
apptainer_sha256=26cf96e08fccb0e50ea0f285a5a19f940ee873d167a0680584fe6eba7d197d65
libc=libc6_2.43-7_amd64.deb
libc_sha256=5c71715c51103beb4fbba9fe9f8dff604af6610dfa71c70bff342f54a7860803
mirror=${MATPROOF_DEBIAN_MIRROR:-http://deb.debian.org/debian}
libraries=x86_64-linux-gnu

cannot() {
    echo "no Apptainer: $*" >&2
    exit 3
}

# Root's is where an ordinary user can run it too.
if [ "$(id -u)" = 0 ]; then default=/var/tmp; else default=${XDG_CACHE_HOME:-$HOME/.cache}; fi
place=${1:-$default/matproof-apptainer-$version}
if [ -e "$place/ready" ]; then
    [ -O "$place/ready" ] || cannot "$place belongs to somebody else"
    echo "$place"
    exit 0
fi
[ ! -e "$place" ] || cannot "$place is there and not complete; remove it"
for program in apt-get dpkg dpkg-deb sha256sum; do
    command -v "$program" >/dev/null || cannot "$program is not there, so this is no Debian"
done
[ "$(dpkg --print-architecture)" = amd64 ] || cannot "the pinned packages are for amd64"

mkdir -p "$(dirname "$place")"
work=$(mktemp -d "$place.XXXXXX")
trap 'rm -rf "$work"' EXIT
chmod 755 "$work"
mkdir -p "$work/debs" "$work/apt/lists/partial" "$work/apt/cache/archives/partial" "$work/tools"

# The two pinned packages, by a configuration of apt's own.
keyring=/usr/share/keyrings/debian-archive-keyring.gpg
[ -e "$keyring" ] || cannot "$keyring is not there"
echo "deb [signed-by=$keyring] $mirror sid main" >"$work/apt/sources.list"
cat >"$work/apt/conf" <<END
Dir::Etc::sourcelist "$work/apt/sources.list";
Dir::Etc::sourceparts "-";
Dir::State::Lists "$work/apt/lists";
Dir::Cache "$work/apt/cache";
APT::Sandbox::User "$(id -un)";
END
(
    cd "$work/debs"
    export APT_CONFIG="$work/apt/conf"
    apt-get update -qq && apt-get download -qq "apptainer=$version" "libc6=2.43-7"
) >"$work/apt/log" 2>&1 || cannot "$mirror does not give $apptainer and $libc ($(grep -m1 '^E:' "$work/apt/log" || tail -n1 "$work/apt/log"))"
printf '%s  %s\n' "$apptainer_sha256" "$work/debs/$apptainer" "$libc_sha256" "$work/debs/$libc" |
    sha256sum --check --quiet >/dev/null 2>&1 || cannot "the packages have other checksums than the pinned ones"

# What they use, of this machine's own release.
(
    cd "$work/debs"
    apt-get download -qq -o APT::Sandbox::User="$(id -un)" patchelf squashfs-tools squashfuse libfuse3-3 liblzo2-2 \
        libseccomp2 libsqlite3-0 $(apt-cache --names-only search '^libsquashfuse[0-9]+$' | cut -d' ' -f1)
) >"$work/apt/log" 2>&1 || cannot "apt has not all that it uses ($(grep -m1 '^E:' "$work/apt/log" || tail -n1 "$work/apt/log"))"

dpkg-deb -x "$work/debs/$apptainer" "$work"
dpkg-deb -x "$work/debs/$libc" "$work/libc"
for package in "$work"/debs/*.deb; do
    case $package in */"$apptainer" | */"$libc") ;; *) dpkg-deb -x "$package" "$work/tools" ;; esac
done
cp "$work/tools/usr/bin/mksquashfs" "$work/tools/usr/bin/unsquashfs" "$work/tools/usr/bin/squashfuse_ll" "$work/usr/bin/"

# All names below hold the final place. The client looks for etc and var below usr, its starter below usr/lib.
own=$place/libc/usr/lib/$libraries
more=$place/tools/lib/$libraries:$place/tools/usr/lib/$libraries
patchelf=$work/tools/usr/bin/patchelf
for file in usr/bin/apptainer "usr/lib/$libraries/apptainer/bin/starter"; do
    "$patchelf" --set-interpreter "$own/ld-linux-x86-64.so.2" --set-rpath "$own:$more:/lib/$libraries:/usr/lib/$libraries" "$work/$file"
done
for file in "$work"/usr/bin/*squash* $(find "$work/tools" -name 'libsquashfuse*.so*' -type f); do
    "$patchelf" --set-rpath "$more" "$file"
done
for name in etc var; do
    ln -s "../$name" "$work/usr/$name"
    ln -s "../../$name" "$work/usr/lib/$name"
done
mkdir -p "$work/var/lib/apptainer/mnt/session"
rm -rf "$work/debs" "$work/apt" "$work/libc/usr/share" "$work/tools/usr/share"
touch "$work/ready"
mv -T "$work" "$place"
trap - EXIT
"$place/usr/bin/apptainer" --version >/dev/null || cannot "it does not run: remove $place"
echo "$place"
