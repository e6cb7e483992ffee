import { execFileSync, spawnSync } from 'node:child_process'
import { accessSync, constants, existsSync, mkdtempSync, readFileSync, rmdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join, resolve } from 'node:path'
import type { Plugin } from 'vite'
import { findBinaries } from './postgres-binaries.ts'
import { allImportsOf } from './tiers.ts'

const root = resolve(import.meta.dirname, '../..')

/** Debian packages of the programs that tests start. */
const packages = {
  caddy: 'caddy',
  chromium: 'chromium, or set WEFT_TEST_BROWSER to its path',
  haproxy: 'haproxy',
  java: 'openjdk-17-jre-headless',
  nginx: 'nginx',
  openssl: 'openssl',
  prlimit: 'util-linux',
  promtool: 'prometheus',
  squid: 'squid',
  'systemd-analyze': 'systemd',
}

type Program = keyof typeof packages

const isProgram = (path: string): boolean => {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

/** Returns the path of a program; undefined if it is not installed. WEFT_TEST_BROWSER is the path of Chromium. */
function find(program: Program): string | undefined {
  const isBrowser = program === 'chromium'
  if (isBrowser && process.env.WEFT_TEST_BROWSER !== undefined) return process.env.WEFT_TEST_BROWSER
  const names = isBrowser ? ['chromium', 'chromium-browser', 'google-chrome'] : [program]
  // Debian installs servers in a folder that is not on the path of ordinary users.
  const folders = [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin']
  return folders.flatMap((folder) => names.map((name) => join(folder, name))).find(isProgram)
}

const notInstalled = (program: Program): string =>
  `${program} is not installed (Debian: ${packages[program]})`

/** Returns the path of a program. @throws Error if it is not installed */
export function pathOf(program: Program): string {
  const path = find(program)
  if (path === undefined) throw new Error(notInstalled(program))
  return path
}

const packagesOf =
  (folder: string, path = '') =>
  (): string | null =>
    existsSync(join(root, folder, 'node_modules', path))
      ? null
      : `the packages of ${folder} are not installed (cd ${folder} && npm ci)`

/** Tries to mount a tmpfs, because root may lack the right to do so in a container. */
function triedMount(): string | null {
  const folder = mkdtempSync(join(tmpdir(), 'weft-mount-'))
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', folder], { stdio: 'ignore' })
    execFileSync('umount', ['-l', folder])
    return null
  } catch {
    return 'a tmpfs cannot be mounted: run the test as root'
  } finally {
    rmdirSync(folder)
  }
}

/** Other needs of tests: each function returns why it is missing on this machine; null if it is there. */
const checks = {
  'test/interop': packagesOf('test/interop'),
  'test/interop/collector': packagesOf('test/interop/collector'),
  'test/deploy': packagesOf('test/deploy'),
  'examples/tiptap': packagesOf('examples/tiptap'),
  'bench/peers': packagesOf('bench/peers', 'node/bin/node'),
  postgres: () => {
    const found = findBinaries()
    return typeof found === 'string' ? found : null
  },
  proxies: () =>
    (['nginx', 'haproxy', 'caddy', 'squid'] as const).some(find)
      ? null
      : 'no proxy is installed (Debian: nginx, haproxy, caddy, squid)',
  python3: () =>
    spawnSync('python3', ['-c', 'import sys; sys.exit(sys.version_info < (3, 11))']).status === 0
      ? null
      : 'python3 of version 3.11 or later is not installed (Debian: python3)',
  tmpfs: triedMount,
}

/** A program, a folder with packages of its own, or a right that tests need and a machine may lack. */
export type Tool = Program | keyof typeof checks

const isCheck = (tool: Tool): tool is keyof typeof checks => Object.hasOwn(checks, tool)

const reasons = new Map<Tool, string | null>()

/**
 * Returns why a tool is missing on this machine; null if it is there.
 * @throws Error if it is missing and WEFT_TEST_REQUIRED=1; CI does not require the other servers in `bench/peers`
 */
export function missing(tool: Tool): string | null {
  const known = reasons.get(tool)
  const reason = known !== undefined ? known : reasonFor(tool)
  reasons.set(tool, reason)
  const isRequired = process.env.WEFT_TEST_REQUIRED === '1' && tool !== 'bench/peers'
  if (reason !== null && isRequired) throw new Error(reason)
  return reason
}

function reasonFor(tool: Tool): string | null {
  if (isCheck(tool)) return checks[tool]()
  return find(tool) === undefined ? notInstalled(tool) : null
}

/** The tools that whole files of tests need, by the path of the file or of a file that it imports. */
const needs: readonly (readonly [path: RegExp, tool: Tool])[] = [
  [/^test\/interop\//, 'test/interop'],
  [/^test\/interop\/trace-collector/, 'test/interop/collector'],
  [/^test\/deploy\//, 'test/deploy'],
  [/^test\/support\/servers\/browser\.ts$/, 'chromium'],
  [/^test\/support\/servers\/postgres/, 'postgres'],
  [/^test\/e2e\/transport\/(proxies|failover)\./, 'proxies'],
  [/^test\/browser\/transport\./, 'haproxy'],
  [/^test\/e2e\/docs\/hocuspocus\./, 'bench/peers'],
  [/^test\/e2e\/rooms\/disk-space\./, 'tmpfs'],
  [/^test\/e2e\/rooms\/disk-full\./, 'prlimit'],
  [/^test\/package\/example-python\./, 'python3'],
  [/^test\/rest\/http\/promtool\./, 'promtool'],
  [/^test\/unit\/webhooks\/tls\./, 'openssl'],
]

/**
 * Returns why a test file cannot run on this machine; null if it can. A file that asks for a tool itself has tests
 * that do not need the tool.
 */
function missingFor(file: string): string | null {
  const text = readFileSync(join(root, file), 'utf8')
  const paths = [file, ...allImportsOf(file)]
  for (const [path, tool] of needs) {
    if (!paths.some((each) => path.test(each)) || text.includes(`missing('${tool}')`)) continue
    const reason = missing(tool)
    if (reason !== null) return reason
  }
  return null
}

/** Replaces each test file whose tools are missing by one skipped test with the reason. */
export const skipWithoutNeeds: Plugin = {
  name: 'skip-without-needs',
  enforce: 'pre',
  load(id) {
    const file = id.startsWith(`${root}/test/`) ? id.slice(root.length + 1) : ''
    const reason = /\.test\.tsx?$/.test(file) ? missingFor(file) : null
    return reason === null
      ? null
      : `import { it } from 'vitest'\nit.skip(${JSON.stringify(reason)}, () => {})`
  },
}
