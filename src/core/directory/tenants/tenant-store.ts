import { ApiError } from '../../base/errors.ts'
import type { Tenant } from '../../model/address.ts'
import type { Key, Kv } from '../../store/engine.ts'
import { type RecordType, readRecord } from '../../store/stored-record.ts'
import { authTokensFence } from '../organizations/access-change.ts'
import { type ListPage, listEntries, type PageRange } from '../store/list-page.ts'
import {
  type ApiKeyRecord,
  type AuthTokenRecord,
  apiKeyOwnerType,
  apiKeyRecordType,
  authTokenRecordType,
  counterRecordType,
  retiredTokensRecordType,
  type WorkspaceRecord,
  workspaceRecordType,
} from '../store/records.ts'
import { Transaction, TransactionRunner } from '../store/transaction.ts'
import { workspaceKeys, workspacesPart } from './workspace-keys.ts'

/** Maximum number of auth tokens of one API key that are read. */
export const authTokensMax = 100
/** Maximum number of API keys of one workspace. */
export const apiKeysMax = 1_000

/** A key segment that sorts after all segments that follow the id of a workspace. */
const afterAll = '\u{10ffff}'

/** The stored workspaces, their API keys, and the auth tokens of these keys. Each API key is a tenant. */
export class TenantStore {
  readonly #kv: Kv
  readonly #transactions: TransactionRunner

  constructor(kv: Kv) {
    this.#kv = kv
    this.#transactions = new TransactionRunner(kv)
  }

  async workspace(workspaceId: string): Promise<WorkspaceRecord | null> {
    return this.#get(workspaceKeys.workspace(workspaceId), workspaceRecordType)
  }

  /**
   * Returns the workspace with the smallest id. It is a fallback for the case that the stored credentials
   * were lost.
   */
  async firstWorkspace(): Promise<WorkspaceRecord | null> {
    return this.#first(workspaceKeys.workspaces, workspaceRecordType)
  }

  /** Yields the ids of all workspaces, sorted. Reads the next one only when it is requested. */
  workspaceIds(): AsyncGenerator<string, void, undefined> {
    return workspaceIdsIn(this.#kv)
  }

  async firstApiKey(workspaceId: string): Promise<ApiKeyRecord | null> {
    return this.#first(workspaceKeys.apiKeys(workspaceId), apiKeyRecordType)
  }

  async apiKey(tenant: Tenant): Promise<ApiKeyRecord | null> {
    return this.#get(workspaceKeys.apiKey(tenant), apiKeyRecordType)
  }

  /** Returns API keys of a workspace, in the order of their ids. Without a range, returns all API keys. */
  async apiKeys(
    workspaceId: string,
    range: PageRange = { after: undefined, limit: apiKeysMax },
  ): Promise<ListPage<ApiKeyRecord>> {
    const { items, next } = await listEntries(this.read(), workspaceKeys.apiKeys(workspaceId), range)
    return { items: items.map((entry) => readRecord(apiKeyRecordType, entry)), next }
  }

  /** Returns up to `limit` ids of API keys, sorted. Includes the API keys of all workspaces. */
  async apiKeyIds(limit: number): Promise<readonly string[]> {
    const entries = await this.#kv.scan(workspacesPart, { prefix: workspaceKeys.ownersOfApiKeys, limit })
    return entries.flatMap(({ key }) => key.at(-1) ?? [])
  }

  async isTenant(tenant: Tenant): Promise<boolean> {
    const [bytes = null] = await this.#kv.get(workspacesPart, [workspaceKeys.apiKey(tenant)])
    return bytes !== null
  }

  /** Returns the tenant of an API key; null if the key does not exist. */
  async tenantOf(apiKey: string): Promise<Tenant | null> {
    const owner = await this.#get(workspaceKeys.ownerOfApiKey(apiKey), apiKeyOwnerType)
    return owner === null ? null : { workspaceId: owner.workspaceId, apiKey }
  }

  /** Returns the current tokens of an API key, in the order of their names. */
  async authTokens(tenant: Tenant): Promise<readonly AuthTokenRecord[]> {
    const range = { prefix: workspaceKeys.authTokens(tenant), limit: authTokensMax }
    const entries = await this.#kv.scan(workspacesPart, range)
    return entries.map((entry) => readRecord(authTokenRecordType, entry))
  }

  /**
   * Returns the tokens of an API key that are valid at `now` (epoch milliseconds), including replaced ones, which have
   * the time of their end.
   */
  async validTokens(
    tenant: Tenant,
    now: number,
  ): Promise<readonly (AuthTokenRecord & { readonly validUntil?: number })[]> {
    const [current, retired] = await Promise.all([
      this.authTokens(tenant),
      this.#get(workspaceKeys.retiredTokens(tenant), retiredTokensRecordType),
    ])
    return [...current, ...(retired?.tokens ?? []).filter(({ validUntil }) => validUntil > now)]
  }

  /** Writes a workspace. If a workspace with the same id exists, replaces it. */
  putWorkspace(record: WorkspaceRecord): Promise<void> {
    return this.change(async (transaction) => transaction.put(workspaceKeys.workspace(record.id), record))
  }

  /**
   * Adds an API key. If any workspace already has an API key with this id, returns false and writes nothing.
   * @throws ApiError FAILED_PRECONDITION if the workspace has the maximum number of keys
   */
  addApiKey(record: ApiKeyRecord): Promise<boolean> {
    return this.change((transaction) => putNewApiKey(transaction, record))
  }

  /** Writes an auth token. If the API key already has a token with the same name, replaces that token. */
  putAuthToken(tenant: Tenant, record: AuthTokenRecord): Promise<void> {
    return this.change(async (transaction) => {
      transaction.put(workspaceKeys.authToken(tenant, record.name), record)
      transaction.raise([authTokensFence(tenant)])
    })
  }

  /** Returns a transaction that is used only for reading; its writes are never committed. */
  read(): Transaction {
    return new Transaction(this.#kv, workspacesPart)
  }

  /** Changes the records of tenants in one commit; see `TransactionRunner`. */
  change<T>(work: (transaction: Transaction) => Promise<T>): Promise<T> {
    return this.#transactions.run(workspacesPart, work)
  }

  async #get<R extends object>(key: Key, type: RecordType<R>): Promise<R | null> {
    const [value = null] = await this.#kv.get(workspacesPart, [key])
    return value === null ? null : readRecord(type, { key, value })
  }

  async #first<R extends object>(prefix: Key, type: RecordType<R>): Promise<R | null> {
    const [entry] = await this.#kv.scan(workspacesPart, { prefix, limit: 1 })
    return entry === undefined ? null : readRecord(type, entry)
  }
}

/** Like `TenantStore.addApiKey`, but as a part of the commit of `transaction`. */
export async function putNewApiKey(transaction: Transaction, record: ApiKeyRecord): Promise<boolean> {
  const { id, workspaceId } = record
  const ownerKey = workspaceKeys.ownerOfApiKey(id)
  if ((await transaction.get(ownerKey)) !== null) return false
  const count = await apiKeyCount(transaction, workspaceId)
  if (count >= apiKeysMax)
    throw new ApiError(
      'api-key/too-many',
      `the workspace has ${apiKeysMax} API keys, and can have no more; use one of them`,
    )
  transaction.put(workspaceKeys.apiKeyCount(workspaceId), { count: count + 1 })
  transaction.put(workspaceKeys.apiKey({ workspaceId, apiKey: id }), record)
  transaction.put(ownerKey, { workspaceId })
  return true
}

/**
 * Returns the number of API keys of a workspace. A store of an earlier version has no counter; the keys are
 * then counted.
 */
async function apiKeyCount(transaction: Transaction, workspaceId: string): Promise<number> {
  const record = await transaction.get(workspaceKeys.apiKeyCount(workspaceId), counterRecordType)
  if (record !== null) return record.count
  const range = { prefix: workspaceKeys.apiKeys(workspaceId), limit: apiKeysMax }
  return (await transaction.scan(range)).length
}

/** Maximum number of workspaces by which a store is recognized. */
export const identifyingWorkspacesMax = 1_000

/** Returns the ids of the first workspaces of a store, sorted. @throws StoreUnavailableError */
export async function listWorkspaceIds(kv: Pick<Kv, 'scan'>): Promise<readonly string[]> {
  const ids: string[] = []
  for await (const id of workspaceIdsIn(kv)) if (ids.push(id) === identifyingWorkspacesMax) break
  return ids
}

async function* workspaceIdsIn(kv: Pick<Kv, 'scan'>): AsyncGenerator<string, void, undefined> {
  const range = { prefix: workspaceKeys.workspaces, limit: 1 }
  for (let from = {}; ; ) {
    const [entry] = await kv.scan(workspacesPart, { ...range, ...from })
    const id = entry?.key[1]
    if (id === undefined) return
    yield id
    from = { after: [...workspaceKeys.workspace(id), afterAll] }
  }
}
