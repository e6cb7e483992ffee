import { AuditLog } from '../../../core/audit/log.ts'
import { systemClock } from '../../../core/base/clock.ts'
import { ApiError } from '../../../core/base/errors.ts'
import { createLog } from '../../../core/base/log.ts'
import type { ApiKeyRecord, WorkspaceRecord } from '../../../core/directory/store/records.ts'
import {
  readCredentials,
  type ServerCredentials,
  type StoredCredentials,
  writeCredentials,
} from '../../../core/directory/tenants/credentials-file.ts'
import { createTenancy, type Tenancy } from '../../../core/directory/tenants/tenancy.ts'
import { type CreatedApiKey, CredentialGenerator } from '../../../core/directory/tenants/workspace-service.ts'
import type { Tenant } from '../../../core/model/address.ts'
import type { Engine } from '../../../core/store/engine.ts'
import { directoryOf, openForReading, openForWriting, type StoreLocation } from './offline-store.ts'
import { StorageError } from './storage-error.ts'

/** An API key, and the workspace to which it belongs. */
interface StoredApiKey {
  readonly workspace: Pick<WorkspaceRecord, 'id' | 'name'>
  readonly key: ApiKeyRecord
}

/** The store to change, and how to record the change. */
export interface KeyChangeOptions {
  readonly place: StoreLocation
  /** If true, the audit log records the change. */
  readonly audited: boolean
}

interface NewStoredKey {
  /** Id of the API key to add. If null, an id is generated. */
  readonly apiKey: string | null
  /** Workspace of the key. If undefined, the only workspace of the store. */
  readonly workspaceId: string | undefined
}

const seeList = { hint: 'weft keys list shows what the store has' }

/** Lists all API keys of a stopped store, sorted by workspace. @throws StorageError, EngineOpenError */
export async function listApiKeys(place: StoreLocation): Promise<readonly StoredApiKey[]> {
  return using(await openForReading(place), async ({ tenants }) => {
    const found: StoredApiKey[] = []
    for (const workspace of await workspacesOf(tenants)) {
      const { items } = await tenants.apiKeys(workspace.id)
      for (const key of items) found.push({ workspace, key })
    }
    return found
  })
}

/**
 * Adds an API key with a new auth token to a workspace of a stopped store. The key is a new tenant without
 * documents.
 * @throws StorageError if the store already has the key, if it does not have the workspace, or if it has
 * several workspaces and the caller specifies none; EngineOpenError
 */
export async function addApiKey(
  { place, audited }: KeyChangeOptions,
  { apiKey, workspaceId }: NewStoredKey,
): Promise<CreatedApiKey & Tenant> {
  return using(await openForWriting(place), async ({ tenants, workspaces }, engine) => {
    if (apiKey !== null && (await tenants.tenantOf(apiKey)) !== null)
      throw new StorageError(`the store has the API key ${JSON.stringify(apiKey)} already`, seeList)
    const workspace = await requireWorkspace(tenants, workspaceId)
    const tenant = { workspaceId: workspace.id, apiKey: apiKey ?? new CredentialGenerator().id('key') }
    const key = { id: tenant.apiKey, type: 'production', apiKeyName: 'Default', domains: [] } as const
    const add = () => workspaces.createApiKey(workspace.id, key)
    return { ...tenant, ...(await carryOut(engine, { ...tenant, operation: 'keys.add', audited }, add)) }
  })
}

/**
 * Replaces the auth tokens of an API key with `token`. If `credentials.json` contains this key, updates the
 * file. The documents do not change.
 * @param token the new token; null to generate it
 * @throws StorageError if the store does not have the key; EngineOpenError, CredentialsFileError
 */
export async function replaceAuthToken(
  { place, audited }: KeyChangeOptions,
  apiKey: string,
  token: string | null,
): Promise<CreatedApiKey & Tenant> {
  const made = await using(await openForWriting(place), async ({ tenants, workspaces }, engine) => {
    const tenant = await tenants.tenantOf(apiKey)
    if (tenant === null) throw new StorageError(`the store has no API key ${JSON.stringify(apiKey)}`, seeList)
    const reset = await carryOut(engine, { ...tenant, operation: 'keys.replace', audited }, () =>
      workspaces.resetAuthToken(tenant, { graceSeconds: 0, ...(token && { token }) }),
    )
    return { ...tenant, authToken: reset.token }
  })
  await keep(place, (kept) => kept.apiKey === apiKey, { authToken: made.authToken })
  return made
}

/**
 * Replaces the token of a workspace with `token`. If `credentials.json` contains this workspace, updates the
 * file.
 * @param token the new token; null to generate it
 * @throws StorageError if the store does not have the workspace; EngineOpenError, CredentialsFileError
 */
export async function replaceWorkspaceToken(
  { place, audited }: KeyChangeOptions,
  workspaceId: string,
  token: string | null,
): Promise<Pick<ServerCredentials, 'workspaceId' | 'workspaceAuthToken'>> {
  const made = await using(await openForWriting(place), async ({ tenants, workspaces }, engine) => {
    await requireWorkspace(tenants, workspaceId)
    const options = { graceSeconds: 0, ...(token && { token }) }
    const reset = () => workspaces.resetWorkspaceToken(workspaceId, options)
    const change = { workspaceId, operation: 'keys.replace', audited }
    return { workspaceId, workspaceAuthToken: await carryOut(engine, change, reset) }
  })
  await keep(place, (kept) => kept.workspaceId === workspaceId, {
    workspaceAuthToken: made.workspaceAuthToken,
  })
  return made
}

/**
 * Writes the new credentials (`changed`) to `credentials.json`, if the file contains the same key or
 * workspace.
 * @throws CredentialsFileError
 */
async function keep(
  place: StoreLocation,
  isConcerned: (kept: StoredCredentials) => boolean,
  changed: StoredCredentials,
): Promise<void> {
  const directory = directoryOf(place)
  const kept = await readCredentials(directory)
  if (kept !== null && isConcerned(kept)) await writeCredentials(directory, { ...kept, ...changed })
}

async function using<T>(engine: Engine, work: (tenancy: Tenancy, engine: Engine) => Promise<T>): Promise<T> {
  try {
    return await work(createTenancy(engine, systemClock), engine)
  } finally {
    await engine.close()
  }
}

async function workspacesOf(tenants: Tenancy['tenants']): Promise<readonly WorkspaceRecord[]> {
  const found: WorkspaceRecord[] = []
  for await (const id of tenants.workspaceIds()) {
    const workspace = await tenants.workspace(id)
    if (workspace !== null) found.push(workspace)
  }
  return found
}

async function requireWorkspace(
  tenants: Tenancy['tenants'],
  workspaceId: string | undefined,
): Promise<WorkspaceRecord> {
  if (workspaceId !== undefined) {
    const workspace = await tenants.workspace(workspaceId)
    if (workspace !== null) return workspace
    throw new StorageError(`the store has no workspace ${JSON.stringify(workspaceId)}`, seeList)
  }
  const [only, ...others] = await workspacesOf(tenants)
  if (only === undefined)
    throw new StorageError('the store has no workspace', { hint: 'start the server once: weft serve' })
  if (others.length > 0)
    throw new StorageError(`the store has ${others.length + 1} workspaces`, {
      hint: 'name the one that gets the key: --workspace',
    })
  return only
}

interface KeyChange extends Pick<Tenant, 'workspaceId'>, Partial<Pick<Tenant, 'apiKey'>> {
  readonly operation: string
  readonly audited: boolean
}

/**
 * Makes a change and, if requested, records it in the audit log.
 * @throws StorageError if the store rejects the change
 */
async function carryOut<T>(
  { kv }: Engine,
  { workspaceId, apiKey, operation, audited }: KeyChange,
  work: () => Promise<T>,
): Promise<T> {
  const audit = new AuditLog(kv, systemClock, createLog('silent'))
  const ids = { workspaceId: [workspaceId], ...(apiKey !== undefined && { apiKey: [apiKey] }) }
  try {
    return await (audited ? audit.carryOut(workspaceId, { operation, actor: 'operator', ids }, work) : work())
  } catch (error) {
    throw error instanceof ApiError ? new StorageError(error.message, { cause: error }) : error
  }
}
