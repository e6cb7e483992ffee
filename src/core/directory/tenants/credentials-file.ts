import { existsSync, rmSync } from 'node:fs'
import { chmod, open, readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { ConfigError, errorCode, errorMessage, OperatorError } from '../../base/errors.ts'
import { readJsonOrNull } from '../../base/json.ts'
import * as s from '../../base/schema.ts'
import { misspelledName } from '../../base/text.ts'
import type { Config } from '../../config/config.ts'
import { makeDirectory } from '../../config/files/make-directory.ts'

/** The credentials that a backend needs to call this server, and the secret that signs realtime tokens. */
export interface ServerCredentials {
  readonly workspaceId: string
  readonly workspaceAuthToken: string
  readonly apiKey: string
  readonly authToken: string
  readonly jwtSecret: string
  /** Token of the operator, if the server has one. */
  readonly adminToken?: string | undefined
}

/** Content of the file. Members that the file does not contain are in the store, or will be generated. */
export type StoredCredentials = Partial<ServerCredentials>

/** Thrown if the credentials cannot be read or written. The message is for the operator. */
class CredentialsFileError extends OperatorError {
  override readonly name = 'CredentialsFileError'
}

/**
 * Returns the error for a file or directory that cannot be used.
 * @param what start of the message, such as `the data directory cannot be made`
 */
function unusable(what: string, error: unknown): CredentialsFileError {
  const hint = remedies[String(errorCode(error))]
  return new CredentialsFileError(`${what}: ${errorMessage(error)}`, { cause: error, hint })
}

const writable = 'make it writable for this user, or name another directory: --data-dir'

const remedies: Readonly<Record<string, string>> = {
  EACCES: writable,
  EPERM: writable,
  EROFS: writable,
  ENOSPC: 'make room on its disk',
  EDQUOT: 'make room on its disk',
  ENOTDIR: 'name another directory: --data-dir',
  EEXIST: 'name another directory: --data-dir',
  ENOENT: 'name another directory: --data-dir',
}

const fileName = 'credentials.json'

export const credentialsPath = (directory: string): string => join(directory, fileName)

/**
 * Creates the data directory, unless it exists. Only the owner of the directory can read it.
 * @throws CredentialsFileError
 */
export async function makeDataDirectory(directory: string): Promise<void> {
  try {
    await makeDirectory(directory)
  } catch (error) {
    throw unusable('the data directory cannot be made', error)
  }
}

/**
 * Reads the file. Returns null if the file does not exist.
 * @throws CredentialsFileError if the file exists but cannot be used
 */
export async function readCredentials(directory: string): Promise<StoredCredentials | null> {
  const path = credentialsPath(directory)
  let text: string
  try {
    text = await readFile(path, 'utf8')
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return null
    throw unusable(`${path} cannot be read`, error)
  }
  const found = readJsonOrNull(membersSchema, text)
  if (found === null)
    throw new CredentialsFileError(
      `${path} is not a JSON object of strings: restore it, or remove it so that the server writes a new one`,
    )
  for (const name of Object.keys(found)) {
    const meant = names.includes(name) ? null : misspelledName(name, names)
    if (meant !== null)
      throw new CredentialsFileError(`${path} has "${name}" (did you mean ${meant}?): correct the name`)
  }
  return found
}

/**
 * Replaces the file in one step, with mode 0600. After a crash, the file has either its old or its new
 * content.
 * @throws CredentialsFileError
 */
export async function writeCredentials(directory: string, credentials: StoredCredentials): Promise<void> {
  const path = credentialsPath(directory)
  try {
    await replaceFile(path, credentials)
  } catch (error) {
    throw unusable(`${path} cannot be written`, error)
  }
}

/**
 * Path of a file that exists from the creation of credentials until a start has succeeded. A start after a failed
 * one then still reports the credentials.
 */
const unreportedPath = (directory: string): string => `${credentialsPath(directory)}.unreported`

/** Notes that credentials were created. Returns whether a start that failed has created credentials, or this one. */
export async function noteCreated(directory: string, created: boolean): Promise<boolean> {
  const path = unreportedPath(directory)
  try {
    if (created) await writeFile(path, '', { mode: 0o600 })
    return created || existsSync(path)
  } catch (error) {
    throw unusable(`${path} cannot be written`, error)
  }
}

/** Notes that a start has succeeded. */
export const noteStarted = (directory: string): void => rmSync(unreportedPath(directory), { force: true })

async function replaceFile(path: string, credentials: StoredCredentials): Promise<void> {
  const temporary = `${path}.new`
  const file = await open(temporary, 'w', 0o600)
  try {
    await file.writeFile(`${JSON.stringify(credentials, null, 2)}\n`)
    await file.sync()
  } finally {
    await file.close()
  }
  await chmod(temporary, 0o600)
  await rename(temporary, path)
}

const membersSchema = s.map(s.string)

const names: readonly string[] = [
  'workspaceId',
  'workspaceAuthToken',
  'apiKey',
  'authToken',
  'jwtSecret',
  'adminToken',
] satisfies (keyof ServerCredentials)[]

/** The options that decide which credentials of a workspace are known. */
type ConfiguredWorkspace = Pick<Config, 'workspaceId' | 'workspaceAuthToken' | 'bootstrap' | 'dataDir'>

/** The options that decide which credentials are known. */
export type ConfiguredTenant = Pick<Config, 'workspaceId' | 'apiKey' | 'authToken' | 'jwtSecret' | 'dataDir'>

/** Flags that override the configured credentials. */
export interface TenantFlags {
  readonly workspace?: string
  readonly apiKey?: string
}

/**
 * Returns the known credentials for a server. They come from flags, from the configuration, or from the data
 * directory.
 */
export async function credentialsOf(config: ConfiguredTenant, flags: TenantFlags = {}) {
  const kept = (await readCredentials(config.dataDir)) ?? {}
  const apiKey = flags.apiKey ?? config.apiKey ?? kept.apiKey
  return {
    workspaceId: flags.workspace ?? config.workspaceId ?? kept.workspaceId,
    apiKey,
    // The file in the data directory contains the token of only one API key, which is also in the file.
    authToken: config.authToken ?? (apiKey === kept.apiKey ? kept.authToken : undefined),
    jwtSecret: config.jwtSecret ?? kept.jwtSecret,
  }
}

/**
 * Returns the credentials for REST calls.
 * @throws ConfigError
 */
export async function restCredentialsOf(config: ConfiguredTenant, flags: TenantFlags = {}) {
  const { apiKey, authToken } = await credentialsOf(config, flags)
  if (apiKey !== undefined && authToken !== undefined) return { apiKey, authToken }
  if (apiKey !== undefined)
    throw new ConfigError(`no auth token of the API key ${JSON.stringify(apiKey)} is configured`, {
      hint: 'set WEFT_AUTH_TOKEN, or set WEFT_API_KEY to one that `weft keys list` shows',
    })
  throw new ConfigError(`${config.dataDir} has no credentials`, {
    hint: 'name the data directory of the server (--data-dir), or set WEFT_API_KEY and WEFT_AUTH_TOKEN',
  })
}

/** Returns the admin token: the configured one, or the one in the data directory; undefined if neither is known. */
export const adminTokenOf = async ({
  adminToken,
  dataDir,
}: Pick<Config, 'adminToken' | 'dataDir'>): Promise<string | undefined> =>
  adminToken ?? (await readCredentials(dataDir))?.adminToken

/** Returns the configured token of a workspace; undefined if no such token is configured. */
export function configuredWorkspaceToken(
  { workspaceId, workspaceAuthToken, bootstrap }: ConfiguredWorkspace,
  id: string,
): string | undefined {
  const own = workspaceId === null || workspaceId === id ? workspaceAuthToken : null
  return bootstrap.find((each) => each.workspaceId === id)?.workspaceAuthToken ?? own ?? undefined
}

/**
 * Returns the credentials of a workspace for REST calls. They come from a flag, from the configuration, or from the
 * data directory.
 * @throws ConfigError
 */
export async function workspaceCredentialsOf(
  config: ConfiguredWorkspace,
  flags: Pick<TenantFlags, 'workspace'>,
) {
  const kept = (await readCredentials(config.dataDir)) ?? {}
  const workspaceId = flags.workspace ?? config.workspaceId ?? kept.workspaceId
  if (workspaceId === undefined)
    throw new ConfigError(`${config.dataDir} has no credentials`, {
      hint: 'name the data directory of the server (--data-dir), or set WEFT_WORKSPACE_ID and WEFT_WORKSPACE_AUTH_TOKEN',
    })
  const stored = workspaceId === kept.workspaceId ? kept.workspaceAuthToken : undefined
  const workspaceAuthToken = configuredWorkspaceToken(config, workspaceId) ?? stored
  if (workspaceAuthToken !== undefined) return { workspaceId, workspaceAuthToken }
  throw new ConfigError(`no token of the workspace ${JSON.stringify(workspaceId)} is configured`, {
    hint: 'set WEFT_WORKSPACE_AUTH_TOKEN, or name the data directory of the server (--data-dir)',
  })
}
