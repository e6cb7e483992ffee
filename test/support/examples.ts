import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { TestServer } from './server.ts'

/** A page of `examples/`, served as its user would serve it. */
export interface Site {
  readonly url: string
  readonly child: ChildProcess
}

/**
 * Installs and builds an example if need be, and starts it on a free port.
 * @param settings of its own, for its environment
 */
export async function startExample(
  name: string,
  weft: Pick<TestServer, 'url' | 'credentials'>,
  settings: Readonly<Record<string, string>> = {},
): Promise<Site> {
  const folder = join(import.meta.dirname, '..', '..', 'examples', name)
  if (!existsSync(join(folder, 'node_modules'))) execFileSync('npm', ['ci'], { cwd: folder })
  execFileSync('npm', ['run', '--silent', 'build'], { cwd: folder })
  const env = {
    ...process.env,
    WEFT_URL: weft.url,
    WEFT_API_KEY: weft.credentials.apiKey,
    WEFT_AUTH_TOKEN: weft.credentials.authToken,
    EXAMPLE_PORT: '0',
    ...settings,
  }
  const child = spawn(process.execPath, ['server.js'], {
    cwd: folder,
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [line] = (await once(child.stdout as NodeJS.ReadableStream, 'data')) as [Buffer]
  return { url: /http:\/\/localhost:\d+/.exec(line.toString())?.[0] ?? '', child }
}
