import type { Clock } from '../clock.ts'
import type { DeclaredWorkspace } from '../config/workspaces.ts'
import type { Config } from '../config.ts'
import type { Tenant } from '../model/address.ts'
import {
  type Credentials,
  type KeptCredentials,
  readCredentials,
  writeCredentials,
} from './credentials-file.ts'
import { Generator } from './generator.ts'
import type { WorkspaceRecord } from './records.ts'
import type { Tenants } from './tenants.ts'
import { defaultTokenName } from './workspaces.ts'

export type ConfiguredCredentials = { readonly [K in keyof Credentials | 'bootstrap']: Config[K] }

export interface BootstrapOptions {
  readonly configured: ConfiguredCredentials
  /** Where `credentials.json` lives; null with an engine that forgets all at exit. */
  readonly directory: string | null
  readonly tenants: Tenants
  readonly clock: Clock
  /** What nodes on this store have agreed on, as far as they have. */
  readonly agreed: Partial<Pick<Credentials, 'workspaceId' | 'apiKey' | 'jwtSecret'>>
  /** What counts where it differs: what was agreed on, or what this server has kept. */
  readonly first: 'agreed' | 'kept'
  /** Told of each change before it is made, and waited for. */
  readonly onChange: (change: BootstrapChange) => Promise<void>
}

/** What a start changes in the store. */
export interface BootstrapChange {
  readonly is:
    | 'workspace_made'
    | 'workspace_token_replaced'
    | 'api_key_made'
    | 'auth_token_made'
    | 'auth_token_replaced'
  readonly workspaceId: string
  /** Null: it is about the workspace. */
  readonly apiKey: string | null
}

export interface Bootstrapped {
  readonly credentials: Credentials
  /** True when this start made a credential that nobody has seen yet. */
  readonly created: boolean
}

/** A configured credential belongs to somebody else already. The message says which option. */
export class BootstrapError extends Error {
  override readonly name = 'BootstrapError'
}

interface Start extends BootstrapOptions {
  /** What an earlier start kept, here or in the store. */
  readonly kept: KeptCredentials
  readonly generator: Generator
}

/**
 * Makes sure that a workspace, an API key with an auth token, and a signing secret exist: configured ones, else the
 * ones kept from an earlier start, else new ones. Starting again changes nothing. A configured API key that is new is
 * added (the data of the old one stays under the old one); a configured token replaces its predecessor.
 *
 * Declared workspaces are made sure of first; without anything configured or kept the first of them is used.
 *
 * @throws BootstrapError when a configured or declared API key is of another workspace
 */
export async function bootstrap(options: BootstrapOptions): Promise<Bootstrapped> {
  const { configured, directory, agreed, first } = options
  const inFile = (directory === null ? null : await readCredentials(directory)) ?? {}
  const kept = first === 'agreed' ? { ...inFile, ...agreed } : { ...agreed, ...inFile }
  const start = { ...options, kept, generator: new Generator() }
  for (const workspace of configured.bootstrap) await ensureDeclared(options, workspace)
  const workspace = await ensureWorkspace(start)
  const tenant: Tenant = { workspaceId: workspace.id, apiKey: await ensureApiKey(start, workspace.id) }
  const authToken = await ensureAuthToken(start, tenant)
  const jwtSecret = configured.jwtSecret ?? kept.jwtSecret ?? start.generator.secret()
  const credentials = { ...tenant, workspaceAuthToken: workspace.authToken, authToken, jwtSecret }
  if (directory !== null) await keep(directory, { inFile, configured }, credentials)
  return { credentials, created: start.generator.used }
}

async function ensureWorkspace(start: Start): Promise<WorkspaceRecord> {
  const { configured, kept, tenants, generator, clock } = start
  const id =
    configured.workspaceId ??
    kept.workspaceId ??
    configured.bootstrap[0]?.workspaceId ??
    (await tenants.firstWorkspace())?.id ??
    generator.id('ws')
  const found = await tenants.workspace(id)
  const authToken = configured.workspaceAuthToken ?? found?.authToken ?? generator.secret()
  return putWorkspace(start, found, newWorkspace(id, 'Default workspace', authToken, clock.now()))
}

/** Writes `wanted`, or gives the workspace that is there its token. */
async function putWorkspace(
  { tenants, onChange }: BootstrapOptions,
  found: WorkspaceRecord | null,
  wanted: WorkspaceRecord,
): Promise<WorkspaceRecord> {
  if (found?.authToken === wanted.authToken) return found
  const record = found === null ? wanted : { ...found, authToken: wanted.authToken }
  const is = found === null ? 'workspace_made' : 'workspace_token_replaced'
  await onChange({ is, workspaceId: record.id, apiKey: null })
  await tenants.putWorkspace(record)
  return record
}

const newWorkspace = (id: string, name: string, authToken: string, createdAt: number): WorkspaceRecord => ({
  id,
  name,
  owner: { id: 'owner', email: '', name: 'Owner', avatar: '' },
  authToken,
  createdAt,
})

async function ensureApiKey(start: Start, workspaceId: string): Promise<string> {
  const { configured, kept, tenants, generator, clock } = start
  const keptHere = kept.workspaceId === workspaceId ? kept.apiKey : undefined
  const declared = configured.bootstrap.find((each) => each.workspaceId === workspaceId)?.apiKey
  const first = async () => (await tenants.firstApiKey(workspaceId))?.id
  const id = configured.apiKey ?? keptHere ?? declared ?? (await first()) ?? generator.id('key')
  if (!(await putApiKey(start, { workspaceId, apiKey: id }, clock.now())))
    throw new BootstrapError(
      'the configured API key belongs to another workspace: set WEFT_WORKSPACE_ID to that one',
    )
  return id
}

/** False when it is of another workspace. */
async function putApiKey(
  { tenants, onChange }: BootstrapOptions,
  tenant: Tenant,
  createdAt: number,
): Promise<boolean> {
  if (await tenants.isTenant(tenant)) return true
  const { apiKey: id, workspaceId } = tenant
  if ((await tenants.tenantOf(id)) !== null) return false
  await onChange({ is: 'api_key_made', ...tenant })
  return tenants.addApiKey({ id, workspaceId, apiKeyName: 'Default', type: 'production', createdAt })
}

async function ensureAuthToken(start: Start, tenant: Tenant): Promise<string> {
  const { configured, tenants, generator, clock } = start
  const found = await tenants.authTokens(tenant)
  const current = found.find(({ name }) => name === defaultTokenName) ?? found[0]
  const token = configured.authToken ?? current?.token ?? generator.secret()
  await putToken(start, tenant, token, clock.now())
  return token
}

async function putToken(
  { tenants, onChange }: BootstrapOptions,
  tenant: Tenant,
  token: string,
  createdAt: number,
): Promise<void> {
  const found = await tenants.authTokens(tenant)
  if (found.some((record) => record.token === token)) return
  const isThere = found.some(({ name }) => name === defaultTokenName)
  await onChange({ is: isThere ? 'auth_token_replaced' : 'auth_token_made', ...tenant })
  await tenants.putAuthToken(tenant, { token, name: defaultTokenName, domains: [], createdAt })
}

async function ensureDeclared(
  options: BootstrapOptions,
  { name, workspaceId, workspaceAuthToken, apiKey, authToken }: DeclaredWorkspace,
): Promise<void> {
  const { tenants, clock } = options
  const now = clock.now()
  const tenant = { workspaceId, apiKey }
  const owner = await tenants.tenantOf(apiKey)
  if (owner !== null && owner.workspaceId !== workspaceId)
    throw new BootstrapError(
      `the API key of ${JSON.stringify(name)} in WEFT_BOOTSTRAP belongs to another workspace`,
    )
  const found = await tenants.workspace(workspaceId)
  await putWorkspace(options, found, newWorkspace(workspaceId, name, workspaceAuthToken, now))
  await putApiKey(options, tenant, now)
  await putToken(options, tenant, authToken, now)
}

/** A configured signing secret stays out of the file: it is kept where it is configured, and may be one of many servers'. */
async function keep(
  directory: string,
  { inFile, configured }: Pick<Start, 'configured'> & { readonly inFile: KeptCredentials },
  credentials: Credentials,
): Promise<void> {
  const jwtSecret = configured.jwtSecret === null ? credentials.jwtSecret : inFile.jwtSecret
  const { jwtSecret: _, ...others } = credentials
  const next: KeptCredentials = jwtSecret === undefined ? others : { ...others, jwtSecret }
  const names = Object.keys(next) as (keyof Credentials)[]
  if (names.some((name) => next[name] !== inFile[name])) await writeCredentials(directory, next)
}
