import type { Clock } from '../../base/clock.ts'
import { ApiError, OperatorError } from '../../base/errors.ts'
import type { Log } from '../../base/log.ts'
import type { Config } from '../../config/config.ts'
import type { DeclaredWorkspace } from '../../config/declared-workspaces.ts'
import type { Tenant } from '../../model/address.ts'
import type { WorkspaceRecord } from '../store/records.ts'
import {
  credentialsPath,
  readCredentials,
  type ServerCredentials,
  type StoredCredentials,
  writeCredentials,
} from './credentials-file.ts'
import type { TenantStore } from './tenant-store.ts'
import { CredentialGenerator, defaultTokenName } from './workspace-service.ts'

export type ConfiguredCredentials = {
  readonly [K in keyof ServerCredentials | 'bootstrap' | 'addKey']: Config[K]
}

/**
 * The credentials that are available to a start of the server: the configured ones, and the places where
 * earlier credentials are stored.
 */
export interface CredentialSources {
  readonly configured: ConfiguredCredentials
  /** Directory that contains `credentials.json`. Null if the engine stores nothing durably. */
  readonly directory: string | null
  readonly tenants: TenantStore
  /** The credentials on which the nodes of this store have agreed so far. */
  readonly agreed: Partial<Pick<ServerCredentials, 'workspaceId' | 'apiKey' | 'jwtSecret'>>
  /**
   * Which credentials are used if they differ: the agreed ones (`agreed`), or the ones in the file of this
   * server (`kept`).
   */
  readonly first: 'agreed' | 'kept'
}

export interface BootstrapOptions extends CredentialSources {
  readonly clock: Clock
  readonly log: Log
  readonly carryOut: RecordedChange
}

/** Calls `work`, which changes the store, and records the change. @throws the errors of `work` */
export type RecordedChange = <T>(change: BootstrapChange, work: () => Promise<T>) => Promise<T>

/** Describes a change that a start makes to the store. */
interface BootstrapChange {
  readonly is: 'workspace_made' | 'api_key_made' | 'auth_token_made'
  readonly workspaceId: string
  /** The API key to which the change applies. Null: the change applies to the workspace. */
  readonly apiKey: string | null
}

export interface Bootstrapped {
  readonly credentials: ServerCredentials
  /** True if this start has generated a credential. A generated credential must be shown to the operator. */
  readonly created: boolean
  /**
   * True if this start has generated a signing secret although the store already has API keys. Realtime
   * tokens that were issued before are then invalid.
   */
  readonly isSecretLost: boolean
}

/**
 * Thrown if the configured credentials contradict the credentials in the store. The message contains the name
 * of the option.
 */
export class BootstrapError extends OperatorError {
  override readonly name = 'BootstrapError'
}

/** The credentials of a start. They have been checked: they do not contradict the store. */
interface CheckedSources extends CredentialSources {
  readonly inFile: StoredCredentials
  /** The credentials that an earlier start has stored, in the file or in the store. */
  readonly kept: StoredCredentials
  readonly own: Own
}

interface Start extends BootstrapOptions, CheckedSources {
  readonly generator: CredentialGenerator
}

/** The ids that the server uses. Null: the id is neither configured nor stored. */
interface Own {
  readonly workspaceId: string | null
  readonly apiKey: string | null
}

/**
 * Ensures that a workspace, an API key with an auth token, and a signing secret exist. For each of them, uses
 * the configured one; otherwise the one of an earlier start; otherwise a new one. A repeated start changes
 * nothing. If the store already has API keys, another key is created only if `addKey` contains its id. The
 * reason is that each key is its own tenant: with a mistyped key, the server would serve an empty tenant. A
 * configured token must equal the stored one, because a mistyped token would lock out the callers. Declared
 * workspaces are ensured first. If nothing is configured or stored, the server uses the first declared workspace.
 * @throws BootstrapError if an API key belongs to another workspace, if the store has API keys but not the
 * configured one, or if the store has another token
 */
export async function bootstrap(options: BootstrapOptions): Promise<Bootstrapped> {
  const { configured, directory } = options
  const checked = await checkCredentials(options)
  const { inFile, kept } = checked
  const start = { ...options, ...checked, generator: new CredentialGenerator() }
  const isNew = (await options.tenants.apiKeyIds(1)).length === 0
  for (const workspace of configured.bootstrap) {
    const isAdded = await ensureDeclared(options, workspace)
    if (isAdded && !isNew) warnOfAdded(options.log, workspace)
  }
  const workspace = await ensureWorkspace(start)
  const tenant: Tenant = { workspaceId: workspace.id, apiKey: await ensureApiKey(start, workspace.id) }
  const authToken = await ensureAuthToken(start, tenant)
  const jwtSecret = configured.jwtSecret ?? kept.jwtSecret ?? start.generator.secret()
  const adminToken = configured.adminToken ?? inFile.adminToken ?? newAdminToken(start)
  const credentials = { ...tenant, workspaceAuthToken: workspace.authToken, authToken, jwtSecret, adminToken }
  if (directory !== null) await keep(directory, { inFile, configured }, credentials)
  const isSecretLost = !isNew && configured.jwtSecret === null && kept.jwtSecret === undefined
  return { credentials, created: start.generator.used, isSecretLost }
}

/**
 * Returns an admin token if this start has generated another credential. Otherwise, the operator decides about each of
 * them. Nodes of a cluster get none, because each of them would have its own.
 */
const newAdminToken = ({ generator, directory, first }: Start): string | undefined =>
  generator.used && directory !== null && first === 'kept' ? generator.secret() : undefined

/**
 * Finds the credentials of a start, and compares them with those in the store.
 * @throws BootstrapError, CredentialsFileError
 */
export async function checkCredentials(sources: CredentialSources): Promise<CheckedSources> {
  const { directory, agreed, first } = sources
  const inFile = (directory === null ? null : await readCredentials(directory)) ?? {}
  const kept = first === 'agreed' ? { ...inFile, ...agreed } : { ...agreed, ...inFile }
  const checked = { ...sources, inFile, kept, own: await ownOf(sources, kept) }
  await expectKnown(checked)
  await expectStoredTokens(checked)
  return checked
}

/**
 * Checks that the store has the API key, and that the key belongs to the given workspace.
 * @throws BootstrapError with the message that a start of the server would show
 */
export async function requireTenant(tenants: TenantStore, tenant: Tenant): Promise<void> {
  if (await tenants.isTenant(tenant)) return
  if ((await tenants.apiKeyIds(1)).length === 0)
    throw new BootstrapError('the store has no API keys', { hint: 'start the server once: weft serve' })
  if ((await tenants.tenantOf(tenant.apiKey)) !== null) throw ofAnotherWorkspace()
  throw unknownKey(`the configured API key ${JSON.stringify(tenant.apiKey)}`, 'WEFT_API_KEY', tenant.apiKey)
}

const ofAnotherWorkspace = (): BootstrapError =>
  new BootstrapError('the configured API key belongs to another workspace', {
    hint: 'set WEFT_WORKSPACE_ID to that workspace; `weft keys list` shows it',
  })

/**
 * Checks that this start does not create a new tenant if the store already has tenants.
 * @throws BootstrapError
 */
async function expectKnown({ configured, kept, tenants, directory }: CheckedSources): Promise<void> {
  if ((await tenants.apiKeyIds(1)).length === 0) return
  const { workspaceId, apiKey, addKey } = configured
  if (apiKey !== null && apiKey === addKey) return
  if (apiKey !== null && (await tenants.tenantOf(apiKey)) === null)
    throw unknownKey(`the configured API key ${JSON.stringify(apiKey)}`, 'WEFT_API_KEY', apiKey)
  if (workspaceId !== null && (await tenants.workspace(workspaceId)) === null)
    throw new BootstrapError(
      `the store has workspaces, but not the configured workspace ${JSON.stringify(workspaceId)}`,
      { hint: 'set WEFT_WORKSPACE_ID to one that `weft keys list` shows' },
    )
  if (apiKey !== null || workspaceId !== null || kept.apiKey === undefined || directory === null) return
  if ((await tenants.tenantOf(kept.apiKey)) === null)
    throw new BootstrapError(
      `the store has API keys, but not the one in ${credentialsPath(directory)}, because that file belongs to another store`,
      { hint: 'name the data directory of this store, or remove that file' },
    )
}

const unknownKey = (key: string, option: string, apiKey: string): BootstrapError =>
  new BootstrapError(`the store has API keys, but not ${key}`, {
    hint: `set ${option} to one that \`weft keys list\` shows, or add a new, empty tenant: weft keys add ${apiKey}`,
  })

async function ownOf({ configured, tenants }: CredentialSources, kept: StoredCredentials): Promise<Own> {
  const { bootstrap: declared } = configured
  const workspaceId =
    configured.workspaceId ??
    kept.workspaceId ??
    declared[0]?.workspaceId ??
    (await tenants.firstWorkspace())?.id ??
    null
  if (workspaceId === null) return { workspaceId, apiKey: configured.apiKey }
  const keptHere = kept.workspaceId === workspaceId ? kept.apiKey : undefined
  const declaredHere = declared.find((each) => each.workspaceId === workspaceId)?.apiKey
  const first = async () => (await tenants.firstApiKey(workspaceId))?.id ?? null
  return { workspaceId, apiKey: configured.apiKey ?? keptHere ?? declaredHere ?? (await first()) }
}

/** Checks that the configured tokens equal the stored ones. @throws BootstrapError */
async function expectStoredTokens({ configured, own, tenants }: CheckedSources): Promise<void> {
  const { workspaceAuthToken, authToken, bootstrap: declared } = configured
  await expectWorkspaceToken(tenants, own.workspaceId, workspaceAuthToken, 'WEFT_WORKSPACE_AUTH_TOKEN')
  await expectAuthToken(tenants, own, authToken, 'WEFT_AUTH_TOKEN')
  for (const each of declared) {
    await expectWorkspaceToken(tenants, each.workspaceId, each.workspaceAuthToken, 'WEFT_BOOTSTRAP')
    await expectAuthToken(tenants, each, each.authToken, 'WEFT_BOOTSTRAP')
  }
}

async function expectWorkspaceToken(
  tenants: TenantStore,
  workspaceId: string | null,
  token: string | null,
  option: string,
): Promise<void> {
  const found = workspaceId === null || token === null ? null : await tenants.workspace(workspaceId)
  if (found === null || found.authToken === token) return
  throw new BootstrapError(
    `the stored token of the workspace ${JSON.stringify(workspaceId)} differs from ${option}`,
    correctOrReplace(option, `--workspace ${workspaceId}`),
  )
}

async function expectAuthToken(
  tenants: TenantStore,
  { workspaceId, apiKey }: Own,
  token: string | null,
  option: string,
): Promise<void> {
  if (workspaceId === null || apiKey === null || token === null) return
  const found = await tenants.authTokens({ workspaceId, apiKey })
  if (found.length === 0 || found.some((record) => record.token === token)) return
  throw new BootstrapError(
    `the stored auth token of the API key ${JSON.stringify(apiKey)} differs from ${option}`,
    correctOrReplace(option, apiKey),
  )
}

const correctOrReplace = (option: string, what: string): { readonly hint: string } => ({
  hint: `correct ${option}, or replace the stored one: weft keys replace ${what} --configured`,
})

async function ensureWorkspace(start: Start): Promise<WorkspaceRecord> {
  const { configured, own, tenants, generator, clock } = start
  const id = own.workspaceId ?? generator.id('ws')
  const found = await tenants.workspace(id)
  const authToken = configured.workspaceAuthToken ?? found?.authToken ?? generator.secret()
  return putWorkspace(start, found, newWorkspace(id, 'Default workspace', authToken, clock.now()))
}

/** Ensures that the workspace `wanted` exists. `found` is the stored workspace with the same id. Returns the workspace. */
async function putWorkspace(
  { tenants, carryOut }: BootstrapOptions,
  found: WorkspaceRecord | null,
  wanted: WorkspaceRecord,
): Promise<WorkspaceRecord> {
  if (found !== null) return found
  const change = { is: 'workspace_made', workspaceId: wanted.id, apiKey: null } as const
  await carryOut(change, () => tenants.putWorkspace(wanted))
  return wanted
}

const newWorkspace = (id: string, name: string, authToken: string, createdAt: number): WorkspaceRecord => ({
  id,
  name,
  owner: { id: 'owner', email: '', name: 'Owner', avatar: '' },
  authToken,
  createdAt,
})

async function ensureApiKey(start: Start, workspaceId: string): Promise<string> {
  const { own, generator, clock } = start
  const id = own.apiKey ?? generator.id('key')
  if (!(await putApiKey(start, { workspaceId, apiKey: id }, clock.now()))) throw ofAnotherWorkspace()
  return id
}

/**
 * Adds an API key, unless it already exists. Returns false if the key belongs to another workspace.
 * @throws BootstrapError if the workspace has the maximum number of keys
 */
async function putApiKey(
  { tenants, carryOut }: BootstrapOptions,
  tenant: Tenant,
  createdAt: number,
): Promise<boolean> {
  if (await tenants.isTenant(tenant)) return true
  const { apiKey: id, workspaceId } = tenant
  if ((await tenants.tenantOf(id)) !== null) return false
  const record = { id, workspaceId, apiKeyName: 'Default', type: 'production', createdAt } as const
  return carryOut({ is: 'api_key_made', ...tenant }, () => tenants.addApiKey(record)).catch(
    (error: unknown) => {
      throw error instanceof ApiError ? new BootstrapError(error.message, { cause: error }) : error
    },
  )
}

async function ensureAuthToken(start: Start, tenant: Tenant): Promise<string> {
  const { configured, tenants, generator, clock } = start
  const found = await tenants.authTokens(tenant)
  const current = found.find(({ name }) => name === defaultTokenName) ?? found[0]
  const token = configured.authToken ?? current?.token ?? generator.secret()
  await putToken(start, tenant, token, clock.now())
  return token
}

/** Ensures that an API key has an auth token. If the key has no token, adds `token`. */
async function putToken(
  { tenants, carryOut }: BootstrapOptions,
  tenant: Tenant,
  token: string,
  createdAt: number,
): Promise<void> {
  if ((await tenants.authTokens(tenant)).length > 0) return
  const record = { name: defaultTokenName, domains: [], createdAt, token }
  await carryOut({ is: 'auth_token_made', ...tenant }, () => tenants.putAuthToken(tenant, record))
}

/**
 * Ensures that a declared workspace exists with its API key and token. Returns whether the workspace is new.
 */
async function ensureDeclared(
  options: BootstrapOptions,
  { name, workspaceId, workspaceAuthToken, apiKey, authToken }: DeclaredWorkspace,
): Promise<boolean> {
  const { tenants, clock, configured } = options
  const now = clock.now()
  const tenant = { workspaceId, apiKey }
  const owner = await tenants.tenantOf(apiKey)
  if (owner !== null && owner.workspaceId !== workspaceId)
    throw new BootstrapError(
      `the API key of ${JSON.stringify(name)} in WEFT_BOOTSTRAP belongs to another workspace`,
    )
  const found = await tenants.workspace(workspaceId)
  const isNew = owner === null && (await tenants.firstApiKey(workspaceId)) !== null
  if (isNew && configured.addKey !== apiKey)
    throw unknownKey(`the API key of ${JSON.stringify(name)} in that workspace`, 'WEFT_BOOTSTRAP', apiKey)
  await putWorkspace(options, found, newWorkspace(workspaceId, name, workspaceAuthToken, now))
  await putApiKey(options, tenant, now)
  await putToken(options, tenant, authToken, now)
  return found === null
}

/**
 * Warns that a workspace was created, because the operator may have mistyped the ids of an existing
 * workspace.
 */
const warnOfAdded = (log: Log, { name, workspaceId, apiKey }: DeclaredWorkspace): void =>
  log.warn(
    { event: 'workspace.created', workspaceId, apiKey },
    `WEFT_BOOTSTRAP added the workspace ${JSON.stringify(name)}, which is new and empty; if it should have documents, ` +
      'correct its workspaceId and apiKey: `weft keys list` shows what the store has',
  )

/**
 * Writes the credentials to the file, if they differ from its content. Leaves out a configured signing
 * secret and a configured admin token: the configuration already contains them, and several servers may use the same.
 */
async function keep(
  directory: string,
  { inFile, configured }: Pick<Start, 'configured'> & { readonly inFile: StoredCredentials },
  credentials: ServerCredentials,
): Promise<void> {
  const jwtSecret = configured.jwtSecret === null ? credentials.jwtSecret : inFile.jwtSecret
  const adminToken = configured.adminToken === null ? credentials.adminToken : undefined
  const { jwtSecret: _, adminToken: __, ...others } = credentials
  const next: StoredCredentials = { ...others, ...(jwtSecret !== undefined && { jwtSecret }), adminToken }
  const names = Object.keys(next) as (keyof ServerCredentials)[]
  if (names.some((name) => next[name] !== inFile[name])) await writeCredentials(directory, next)
}
