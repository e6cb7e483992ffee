import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { TestServer } from './server.ts'

/** A page of `examples/`, served as its user would serve it. */
export interface Site {
  readonly url: string
  readonly child: ChildProcess
}

const root = join(import.meta.dirname, '..', '..')

export const exampleFolder = (name: string): string => join(root, 'examples', name)

/** What an example needs to reach a server. */
export const exampleEnvironment = (weft: TestServer): Record<string, string | undefined> => ({
  ...process.env,
  WEFT_URL: weft.url,
  WEFT_API_KEY: weft.credentials.apiKey,
  WEFT_AUTH_TOKEN: weft.credentials.authToken,
  EXAMPLE_PORT: '0',
})

/** Installs an example unless it has been, or the packages at the top are the very ones that it wants. */
export function installExample(name: string): void {
  const folder = exampleFolder(name)
  if (existsSync(join(folder, 'node_modules')) || isInstalledAtTop(folder)) return
  execFileSync('npm', ['ci'], { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] })
}

function isInstalledAtTop(folder: string): boolean {
  const read = (file: string) => JSON.parse(readFileSync(file, 'utf8')) as Manifest
  const { dependencies = {}, devDependencies = {} } = read(join(folder, 'package.json'))
  return Object.entries({ ...dependencies, ...devDependencies }).every(([name, version]) => {
    const file = join(root, 'node_modules', name, 'package.json')
    return existsSync(file) && read(file).version === version
  })
}

interface Manifest {
  readonly version: string
  readonly dependencies?: Readonly<Record<string, string>>
  readonly devDependencies?: Readonly<Record<string, string>>
}

/** Installs and builds an example if need be, and starts it on a free port. */
export async function startExample(name: string, weft: TestServer): Promise<Site> {
  const folder = exampleFolder(name)
  installExample(name)
  execFileSync('npm', ['run', '--silent', 'build'], { cwd: folder })
  const child = spawn(process.execPath, ['server.js'], {
    cwd: folder,
    env: exampleEnvironment(weft),
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [line] = (await once(child.stdout as NodeJS.ReadableStream, 'data')) as [Buffer]
  return { url: /http:\/\/localhost:\d+/.exec(line.toString())?.[0] ?? '', child }
}

/** What an example has printed, and how it ends. */
export interface Running {
  readonly child: ChildProcess
  /** Both streams, so far. */
  out(): string
  readonly ended: Promise<number | null>
}

/** Starts a program of an example, after installing it if need be. */
export function runExample(
  name: string,
  weft: TestServer,
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Running {
  installExample(name)
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
