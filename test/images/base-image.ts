import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  realpathSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'

/** Packages of Debian that the stand-in has: a shell, its tools, and the libraries of Node. */
const packages = [
  'base-files',
  'libc6',
  'libc-bin',
  'dash',
  'coreutils',
  'findutils',
  'libgcc-s1',
  'libstdc++6',
  'libselinux1',
  'libpcre2-8-0',
  'libacl1',
  'libattr1',
  'libgmp10',
]

const linesOf = (command: string, args: readonly string[]): string[] =>
  execFileSync(command, args, { encoding: 'utf8' }).split('\n')

/** Returns the files of a package, by their real paths. */
const filesOf = (name: string): string[] =>
  linesOf('dpkg', ['-L', name])
    .filter((path) => path.startsWith('/') && !/^\/usr\/share\/(doc|man|locale|info|lintian)\//.test(path))
    .filter((path) => existsSync(path) && !lstatSync(path).isDirectory())
    .map((path) => join(realpathSync(dirname(path)), basename(path)))

/**
 * Writes a root file system that stands in for `node:24-slim`, which a test cannot download: files of this
 * machine's Debian packages, and its Node and npm. As in that image, the user `node` has the number 1000. The
 * stand-in has the Node version of this machine.
 */
export function writeBaseImage(root: string): void {
  for (const folder of [
    'usr/bin',
    'usr/sbin',
    'usr/lib',
    'usr/lib64',
    'usr/local/bin',
    'usr/local/lib/node_modules',
    'etc/ssl/certs',
    'tmp',
    'root',
    'proc',
    'sys',
    'dev',
    'home/node',
  ])
    mkdirSync(join(root, folder), { recursive: true })
  for (const name of ['bin', 'sbin', 'lib', 'lib64']) symlinkSync(`usr/${name}`, join(root, name))
  const files = [...new Set(packages.flatMap(filesOf))].filter((path) => path.startsWith('/usr/'))
  execFileSync(
    'sh',
    ['-c', 'tar --create --file - --directory / --files-from - | tar --extract --directory "$1"', 'sh', root],
    { input: files.map((path) => path.slice(1)).join('\n') },
  )
  if (!existsSync(join(root, 'usr/bin/sh'))) symlinkSync('dash', join(root, 'usr/bin/sh'))

  cpSync(process.execPath, join(root, 'usr/local/bin/node'))
  const npm = realpathSync(linesOf('which', ['npm'])[0] as string)
  cpSync(dirname(dirname(npm)), join(root, 'usr/local/lib/node_modules/npm'), { recursive: true })
  for (const name of ['npm', 'npx'])
    symlinkSync(`../lib/node_modules/npm/bin/${name}-cli.js`, join(root, 'usr/local/bin', name))

  writeFileSync(join(root, 'etc/passwd'), 'root:x:0:0::/root:/bin/sh\nnode:x:1000:1000::/home/node:/bin/sh\n')
  writeFileSync(join(root, 'etc/group'), 'root:x:0:\nnode:x:1000:\n')
  chmodSync(join(root, 'tmp'), 0o1777)
  chownSync(join(root, 'home/node'), 1000, 1000)
}
