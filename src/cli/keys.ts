import { Command } from 'commander'
import {
  addApiKey,
  type KeyChangeOptions,
  listApiKeys,
  replaceAuthToken,
  replaceWorkspaceToken,
} from '../capabilities/backups/storage/keys.ts'
import { escapeControls } from '../core/base/text.ts'
import { headerValue } from '../core/config/option-parsers.ts'
import { ConfigError } from '../core/config/read-config.ts'
import { configuredWorkspaceToken, credentialsOf } from '../core/directory/tenants/credentials-file.ts'
import { configOf, printResult } from './command-line/command-io.ts'
import { storeLocation } from './location/store-location.ts'

interface Flags {
  readonly dataDir?: string
  readonly json?: true
}

interface AddFlags extends Flags {
  readonly workspace?: string
}

interface ReplaceFlags extends AddFlags {
  readonly configured?: true
}

/** Creates the command `weft keys`, for the API keys of a stopped store. Each API key is a tenant. */
export const keysCommand = (): Command =>
  new Command('keys')
    .description('List, add and change the API keys of a stopped store. Each key is a tenant of its own.')
    .addCommand(listCommand())
    .addCommand(addCommand())
    .addCommand(replaceCommand())

const withStore = (command: Command): Command =>
  command
    .option(
      '--data-dir <directory>',
      'Data directory of the stopped server (default: the configured store, which may be a database).',
    )
    .option('--json', 'Print JSON.')

function listCommand(): Command {
  return withStore(new Command('list'))
    .description('List workspaces and API keys, and mark the key that the server uses; no secrets.')
    .action(async ({ dataDir: data, json }: Flags) => {
      const found = await listApiKeys(storeLocation(data))
      const own = (await credentialsOf(configOf({ dataDir: data }).config)).apiKey
      const shown = found.map(({ workspace, key }) => ({
        workspaceId: workspace.id,
        workspaceName: workspace.name,
        apiKey: key.id,
        apiKeyName: key.apiKeyName,
        type: key.type,
        createdAt: key.createdAt,
        isOwn: key.id === own,
      }))
      if (json) return printResult(JSON.stringify(shown))
      if (shown.length === 0) return printResult('the store has no API keys')
      for (const each of shown)
        printResult(
          escapeControls(
            [
              each.apiKey,
              `workspace ${each.workspaceId} (${each.workspaceName})`,
              `made ${new Date(each.createdAt).toISOString().slice(0, 10)}`,
              ...(each.isOwn ? ['used by the server'] : []),
            ].join('  '),
          ),
        )
    })
}

function addCommand(): Command {
  return withStore(new Command('add'))
    .description('Add an API key with a new auth token: a new tenant without documents.')
    .argument('[key]', 'Id of the key (default: a generated one).')
    .option('--workspace <id>', 'Workspace that gets the key (default: the only one of the store).')
    .action(async (given: string | undefined, flags: AddFlags) => {
      const apiKey = given === undefined ? null : checkedKey(given)
      const made = await addApiKey(change(flags), { apiKey, workspaceId: flags.workspace })
      if (flags.json) return printResult(JSON.stringify(made))
      printResult(`Added the API key ${made.apiKey} to the workspace ${made.workspaceId}: a new, empty tenant.
  auth token  ${made.authToken}
The server uses it after a start with WEFT_API_KEY=${made.apiKey}.`)
    })
}

function replaceCommand(): Command {
  return withStore(new Command('replace'))
    .description('Replace the auth tokens of an API key, or the token of a workspace. The documents stay.')
    .argument('[key]', 'Id of the key.')
    .option('--workspace <id>', 'Replace the token of this workspace.')
    .option(
      '--configured',
      'Store the configured token (WEFT_AUTH_TOKEN, WEFT_WORKSPACE_AUTH_TOKEN, WEFT_BOOTSTRAP) instead of a new one.',
    )
    .action(async (apiKey: string | undefined, flags: ReplaceFlags) => {
      if (apiKey !== undefined && flags.workspace === undefined) return replaceOfKey(apiKey, flags)
      if (apiKey === undefined && flags.workspace !== undefined)
        return replaceOfWorkspace(flags.workspace, flags)
      throw new ConfigError('weft keys replace needs a key or --workspace, and not both')
    })
}

async function replaceOfKey(apiKey: string, flags: ReplaceFlags): Promise<void> {
  const made = await replaceAuthToken(change(flags), apiKey, flags.configured ? authTokenOf(apiKey) : null)
  const { authToken, ...ids } = made
  if (flags.json) return printResult(JSON.stringify(flags.configured ? ids : made))
  const done = `Replaced the auth tokens of the API key ${apiKey}`
  printResult(flags.configured ? `${done} by the configured one.` : `${done}.\n  auth token  ${authToken}`)
}

async function replaceOfWorkspace(workspaceId: string, flags: ReplaceFlags): Promise<void> {
  const token = flags.configured ? workspaceTokenOf(workspaceId) : null
  const made = await replaceWorkspaceToken(change(flags), workspaceId, token)
  if (flags.json) return printResult(JSON.stringify(flags.configured ? { workspaceId } : made))
  const done = `Replaced the token of the workspace ${workspaceId}`
  printResult(
    flags.configured
      ? `${done} by the configured one.`
      : `${done}.\n  workspace auth token  ${made.workspaceAuthToken}`,
  )
}

/**
 * Returns the configured auth token of an API key.
 * @throws ConfigError if no such token is configured
 */
function authTokenOf(key: string): string {
  const { apiKey, authToken, bootstrap } = configOf({}).config
  const own = apiKey === null || apiKey === key ? authToken : null
  const token = bootstrap.find((each) => each.apiKey === key)?.authToken ?? own
  if (token !== null) return token
  throw notConfigured(`auth token of the API key ${JSON.stringify(key)}`, 'WEFT_AUTH_TOKEN')
}

/**
 * Returns the configured token of a workspace.
 * @throws ConfigError if no such token is configured
 */
function workspaceTokenOf(id: string): string {
  const token = configuredWorkspaceToken(configOf({}).config, id)
  if (token !== undefined) return token
  throw notConfigured(`token of the workspace ${JSON.stringify(id)}`, 'WEFT_WORKSPACE_AUTH_TOKEN')
}

const notConfigured = (what: string, option: string): ConfigError =>
  new ConfigError(`no ${what} is configured`, { hint: `set ${option} or WEFT_BOOTSTRAP` })

const change = ({ dataDir: data }: Flags): KeyChangeOptions => ({
  place: storeLocation(data),
  audited: configOf({}).config.audit !== 'off',
})

const keyParser = headerValue(1)

/**
 * Returns the text if it is a valid API key.
 * @throws ConfigError
 */
function checkedKey(text: string): string {
  const key = keyParser.parse(text)
  if (key === undefined)
    throw new ConfigError(
      `${JSON.stringify(text.slice(0, 100))} is not an API key; expected ${keyParser.expected}`,
    )
  return key
}
