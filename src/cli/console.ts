import { spawn } from 'node:child_process'
import { Command } from 'commander'
import { withoutTrailing } from '../core/base/text.ts'
import type { Config } from '../core/config/config.ts'
import {
  adminTokenOf,
  credentialsOf,
  readCredentials,
  restCredentialsOf,
  type ServerCredentials,
  type StoredCredentials,
  workspaceCredentialsOf,
} from '../core/directory/tenants/credentials-file.ts'
import { configOf, printResult, withConfigFlags } from './command-line/command-io.ts'
import { requireStoredKey } from './location/store-location.ts'

/** Creates the command `weft console`. It prints or opens a link that contains the credentials. */
export function consoleCommand(): Command {
  return withConfigFlags(new Command('console'))
    .description('Print the link that signs in to the console of the server; it holds the credentials.')
    .option(
      '--open',
      'Open the link in the browser, and print it only if that fails. Users who can list the processes of this machine can see it for a moment.',
    )
    .action(async (flags: { json?: true; open?: true }) => {
      const { config } = configOf({ ...flags })
      await requireStoredKey(config, await credentialsOf(config))
      const url = consoleLink(config, config.port, await linkCredentialsOf(config))
      if (flags.open) return open(url)
      printResult(flags.json ? JSON.stringify({ url }) : url)
    })
}

/** Credentials of a link. With those of the workspace and the admin token, it signs in to every page. */
type LinkCredentials = Pick<ServerCredentials, 'apiKey' | 'authToken'> & StoredCredentials

/**
 * Returns the configured credentials, and those of the data directory if they belong to the same API key.
 * @throws ConfigError
 */
async function linkCredentialsOf(config: Config): Promise<LinkCredentials> {
  const kept = (await readCredentials(config.dataDir)) ?? {}
  const key = await restCredentialsOf(config)
  const workspace = await workspaceCredentialsOf(config, {}).catch(() => ({}))
  const adminToken = await adminTokenOf(config)
  return key.apiKey === kept.apiKey || config.workspaceId !== null
    ? { ...workspace, ...key, adminToken }
    : { ...key, adminToken }
}

/**
 * Returns the link to the console. The credentials follow the `#`, because browsers do not send this part to
 * the server.
 * @param port port on which the server listens
 */
export function consoleLink(
  { publicUrl }: Pick<Config, 'publicUrl'>,
  port: number,
  { apiKey, authToken, workspaceId, workspaceAuthToken, adminToken }: LinkCredentials,
): string {
  const base = withoutTrailing('/', publicUrl ?? `http://localhost:${port}`)
  const members = Object.entries({
    key: apiKey,
    token: authToken,
    workspace: workspaceId,
    workspaceToken: workspaceAuthToken,
    admin: adminToken,
  }).flatMap(([name, value]) => (value === undefined ? [] : `${name}=${encodeURIComponent(value)}`))
  return `${base}/console#${members.join('&')}`
}

const openers: Readonly<Record<string, readonly string[]>> = {
  darwin: ['open'],
  // `start` uses its first argument in quotes as the title of the window, so an empty title precedes the
  // link.
  win32: ['cmd', '/c', 'start', '""'],
}

/**
 * Time in ms after which the program that opens the browser counts as successful if it has reported no error.
 * This program may run as long as the browser.
 */
const openedAfterMs = 5000

/** Opens a browser. If that is not possible, prints the link. */
function open(url: string): void {
  const [program = '', ...first] = openers[process.platform] ?? ['xdg-open']
  const shown = process.platform === 'win32' ? url.replaceAll('&', '^&') : url
  const opening = spawn(program, [...first, shown], { stdio: 'ignore', detached: true })
  const opened = setTimeout(() => opening.unref(), openedAfterMs)
  const ended = (code: number | null): void => {
    clearTimeout(opened)
    if (code !== 0) printResult(url)
  }
  opening.once('error', () => ended(null)).once('exit', ended)
}
