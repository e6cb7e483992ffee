import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { eventually } from '../clients/clients.ts'
import { inheritedEnvironment } from './environment.ts'
import type { Reachable } from './server.ts'

/** A page of `examples/` that is served in the same way as for its users. */
export interface Site {
  readonly url: string
  readonly child: ChildProcess
}

const root = join(import.meta.dirname, '../../..')

export const exampleFolder = (name: string): string => join(root, 'examples', name)

/** Returns the environment variables with which an example connects to a server. */
export const exampleEnvironment = (weft: Reachable): Record<string, string | undefined> => ({
  ...inheritedEnvironment(),
  WEFT_URL: weft.url,
  WEFT_API_KEY: weft.credentials.apiKey,
  WEFT_AUTH_TOKEN: weft.credentials.authToken,
  EXAMPLE_PORT: '0',
})

/** Resolves when this process has built `weft-server`. To check that a build is current takes seconds of CPU time. */
let built: Promise<void> | undefined

/**
 * Installs the packages of an example, unless they are installed. Builds `weft-server`, which examples import, unless
 * the build is current.
 */
export async function installExample(name: string): Promise<void> {
  const folder = exampleFolder(name)
  built ??= alone(root, () => {
    execFileSync('npm', ['run', '--silent', 'build'], { cwd: root, stdio: ['ignore', 'ignore', 'inherit'] })
  })
  await built
  if (isInstalled(folder)) return
  await alone(folder, () => {
    execFileSync('npm', ['ci'], { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] })
  })
}

function isInstalled(folder: string): boolean {
  const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest
  const { dependencies = {}, devDependencies = {} } = manifest
  const names = Object.keys({ ...dependencies, ...devDependencies })
  return names.every((name) => existsSync(join(folder, 'node_modules', name)))
}

interface Manifest {
  readonly dependencies?: Readonly<Record<string, string>>
  readonly devDependencies?: Readonly<Record<string, string>>
}

/**
 * Installs and builds an example if necessary. Then starts it on a free port.
 * @param settings additional environment variables
 */
export async function startExample(
  name: string,
  weft: Reachable,
  settings: Readonly<Record<string, string>> = {},
): Promise<Site> {
  const folder = exampleFolder(name)
  await installExample(name)
  await alone(folder, () => {
    if (!isBuilt(folder)) execFileSync('npm', ['run', '--silent', 'build'], { cwd: folder })
  })
  const child = spawn(process.execPath, ['server.js'], {
    cwd: folder,
    env: { ...exampleEnvironment(weft), ...settings },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [line] = (await once(child.stdout as NodeJS.ReadableStream, 'data')) as [Buffer]
  return { url: /http:\/\/localhost:\d+/.exec(line.toString())?.[0] ?? '', child }
}

/**
 * Returns whether the built page is newer than its sources. Such a page is not built again, because a browser
 * may be loading it.
 */
function isBuilt(folder: string): boolean {
  const changedAt = (file: string): number => statSync(join(folder, file)).mtimeMs
  const sources = readdirSync(join(folder, 'src')).map((name) => join('src', name))
  const built = join('public', 'main.js')
  if (!existsSync(join(folder, built))) return false
  return [...sources, 'package.json', 'package-lock.json'].every((file) => changedAt(file) < changedAt(built))
}

/**
 * Runs `work` under a lock. Several test files may need the same example at the same time, but only one of
 * them must build it.
 */
async function alone(folder: string, work: () => void): Promise<void> {
  const name = createHash('sha256').update(folder).digest('hex').slice(0, 16)
  const lock = join(tmpdir(), `weft-example-${name}.lock`)
  await eventually(() => takeLock(lock), undefined, 120_000)
  try {
    work()
  } finally {
    rmSync(lock, { force: true })
  }
}

function takeLock(lock: string): boolean {
  try {
    writeFileSync(lock, String(process.pid), { flag: 'wx' })
    return true
  } catch {
    if (isAbandoned(lock)) rmSync(lock, { force: true })
    return false
  }
}

/** Returns whether the lock is abandoned, because the process that took it was killed. */
function isAbandoned(lock: string): boolean {
  try {
    const holder = Number(readFileSync(lock, 'utf8'))
    // The file has no process id yet if it was created a moment ago.
    if (holder > 0) process.kill(holder, 0)
    return false
  } catch (error) {
    // Any other error means that the lock was not abandoned, for example because it has just been released.
    return (error as NodeJS.ErrnoException).code === 'ESRCH'
  }
}

/** A running program of an example. */
export interface Running {
  readonly child: ChildProcess
  /** Returns the output of both streams so far. */
  out(): string
  readonly ended: Promise<number | null>
}

/** Starts a program of an example. Installs the example first if necessary. */
export async function runExample(
  name: string,
  weft: Reachable,
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Promise<Running> {
  await installExample(name)
  const child = spawn(process.execPath, args, {
    cwd: exampleFolder(name),
    env: { ...exampleEnvironment(weft), ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let out = ''
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      out += text
    })
  const ended = new Promise<number | null>((resolve) => {
    child.once('close', resolve)
  })
  return { child, out: () => out, ended }
}
