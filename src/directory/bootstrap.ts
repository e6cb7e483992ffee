import type { Clock } from '../clock.ts'
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

/** Name of the auth token that the first start makes or the configuration sets. */
const bootstrapTokenName = 'default'

export type ConfiguredCredentials = { readonly [K in keyof Credentials]: Config[K] }

export interface BootstrapOptions {
  readonly configured: ConfiguredCredentials
  /** Where `credentials.json` lives; null with an engine that forgets all at exit. */
  readonly directory: string | null
  readonly tenants: Tenants
  readonly clock: Clock
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
  /** What an earlier start kept. */
  readonly kept: KeptCredentials
  readonly generator: Generator
}

/**
 * Makes sure that a workspace, an API key with an auth token, and a signing secret exist: configured ones, else the
 * ones kept from an earlier start, else new ones. Starting again changes nothing. A configured API key that is new is
 * added (the data of the old one stays under the old one); a configured token replaces its predecessor.
 *
 * @throws BootstrapError when the configured API key is of another workspace
 */
export async function bootstrap(options: BootstrapOptions): Promise<Bootstrapped> {
  const { configured, directory } = options
  const kept = (directory === null ? null : await readCredentials(directory)) ?? {}
  const start = { ...options, kept, generator: new Generator() }
  const workspace = await ensureWorkspace(start)
  const tenant: Tenant = { workspaceId: workspace.id, apiKey: await ensureApiKey(start, workspace.id) }
  const authToken = await ensureAuthToken(start, tenant)
  const jwtSecret = configured.jwtSecret ?? kept.jwtSecret ?? start.generator.secret()
  const credentials = { ...tenant, workspaceAuthToken: workspace.authToken, authToken, jwtSecret }
  if (directory !== null) await keep(directory, start, credentials)
  return { credentials, created: start.generator.used }
}

async function ensureWorkspace({
  configured,
  kept,
  tenants,
  generator,
  clock,
}: Start): Promise<WorkspaceRecord> {
  const id =
    configured.workspaceId ?? kept.workspaceId ?? (await tenants.firstWorkspace())?.id ?? generator.id('ws')
  const found = await tenants.workspace(id)
  const authToken = configured.workspaceAuthToken ?? found?.authToken ?? generator.secret()
  if (found !== null && found.authToken === authToken) return found
  const record = found === null ? newWorkspace(id, authToken, clock.now()) : { ...found, authToken }
  await tenants.putWorkspace(record)
  return record
}

const newWorkspace = (id: string, authToken: string, createdAt: number): WorkspaceRecord => ({
  id,
  name: 'Default workspace',
  owner: { id: 'owner', email: '', name: 'Owner', avatar: '' },
  authToken,
  createdAt,
})

async function ensureApiKey(start: Start, workspaceId: string): Promise<string> {
  const { configured, kept, tenants, generator, clock } = start
  const keptHere = kept.workspaceId === workspaceId ? kept.apiKey : undefined
  const first = async () => (await tenants.firstApiKey(workspaceId))?.id
  const id = configured.apiKey ?? keptHere ?? (await first()) ?? generator.id('key')
  if (await tenants.isTenant({ workspaceId, apiKey: id })) return id
  const record = {
    id,
    workspaceId,
    apiKeyName: 'Default',
    type: 'production',
    createdAt: clock.now(),
  } as const
  if (!(await tenants.addApiKey(record)))
    throw new BootstrapError(
      'the configured API key belongs to another workspace: set WEFT_WORKSPACE_ID to that one',
    )
  return id
}

async function ensureAuthToken(
  { configured, tenants, generator, clock }: Start,
  tenant: Tenant,
): Promise<string> {
  const found = await tenants.authTokens(tenant)
  const current = found.find(({ name }) => name === bootstrapTokenName) ?? found[0]
  const token = configured.authToken ?? current?.token ?? generator.secret()
  if (found.every((record) => record.token !== token))
    await tenants.putAuthToken(tenant, {
      token,
      name: bootstrapTokenName,
      domains: [],
      createdAt: clock.now(),
    })
  return token
}

/** A configured signing secret stays out of the file: it is kept where it is configured, and may be one of many servers'. */
async function keep(directory: string, { kept, configured }: Start, credentials: Credentials): Promise<void> {
  const jwtSecret = configured.jwtSecret === null ? credentials.jwtSecret : kept.jwtSecret
  const { jwtSecret: _, ...others } = credentials
  const next: KeptCredentials = jwtSecret === undefined ? others : { ...others, jwtSecret }
  const names = Object.keys(next) as (keyof Credentials)[]
  if (names.some((name) => next[name] !== kept[name])) await writeCredentials(directory, next)
}
