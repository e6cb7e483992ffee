import type { Key, Kv, KvEntry } from '../engine/engine.ts'
import type { Tenant } from '../model/address.ts'
import {
  type ApiKeyRecord,
  type AuthTokenRecord,
  decodeRecord,
  encodeRecord,
  type WorkspaceRecord,
} from './records.ts'

/** Workspaces, API keys and tokens are few and change rarely: one partition, so that a change is one commit. */
const part: Key = ['directory']
/** Auth tokens of one API key that are looked at. */
const authTokensMax = 100

/** Owner first, so that all of a workspace is one range; and one index beside, as credentials name only the API key. */
const keys = {
  workspace: (workspaceId: string): Key => ['workspaces', workspaceId],
  apiKeys: (workspaceId: string): Key => ['workspaces', workspaceId, 'apiKeys'],
  apiKey: ({ workspaceId, apiKey }: Tenant): Key => [...keys.apiKeys(workspaceId), apiKey],
  authTokens: ({ workspaceId, apiKey }: Tenant): Key => ['workspaces', workspaceId, 'authTokens', apiKey],
  authToken: (tenant: Tenant, name: string): Key => [...keys.authTokens(tenant), name],
  ownerOfApiKey: (apiKey: string): Key => ['ownerOfApiKey', apiKey],
}

const put = (key: Key, record: object): KvEntry => ({ key, value: encodeRecord(record) })

/** Workspaces, their API keys (each is a tenant) and the auth tokens of these. */
export class Tenants {
  readonly #kv: Kv

  constructor(kv: Kv) {
    this.#kv = kv
  }

  async workspace(workspaceId: string): Promise<WorkspaceRecord | null> {
    return (await this.#get(keys.workspace(workspaceId))) as WorkspaceRecord | null
  }

  /** The workspace with the least id: a fallback where the stored credentials were lost. */
  async firstWorkspace(): Promise<WorkspaceRecord | null> {
    return (await this.#first(['workspaces'])) as WorkspaceRecord | null
  }

  async firstApiKey(workspaceId: string): Promise<ApiKeyRecord | null> {
    return (await this.#first(keys.apiKeys(workspaceId))) as ApiKeyRecord | null
  }

  async apiKey(tenant: Tenant): Promise<ApiKeyRecord | null> {
    return (await this.#get(keys.apiKey(tenant))) as ApiKeyRecord | null
  }

  async isTenant(tenant: Tenant): Promise<boolean> {
    return (await this.apiKey(tenant)) !== null
  }

  /** The tenant an API key names; null when there is no such key. */
  async tenantOf(apiKey: string): Promise<Tenant | null> {
    const owner = (await this.#get(keys.ownerOfApiKey(apiKey))) as { workspaceId: string } | null
    return owner === null ? null : { workspaceId: owner.workspaceId, apiKey }
  }

  /** Valid tokens of an API key, in the order of their names. */
  async authTokens(tenant: Tenant): Promise<readonly AuthTokenRecord[]> {
    const entries = await this.#kv.scan(part, { prefix: keys.authTokens(tenant), limit: authTokensMax })
    return entries.map((entry) => decodeRecord(entry.value) as AuthTokenRecord)
  }

  /** Writes a workspace, over the one with its id. */
  async putWorkspace(record: WorkspaceRecord): Promise<void> {
    await this.#kv.commit(part, { puts: [put(keys.workspace(record.id), record)] })
  }

  /** False, and nothing written, when an API key of that id exists in any workspace. */
  addApiKey(record: ApiKeyRecord): Promise<boolean> {
    const ownerKey = keys.ownerOfApiKey(record.id)
    return this.#kv.commit(part, {
      checks: [{ key: ownerKey, value: null }],
      puts: [
        put(keys.apiKey({ workspaceId: record.workspaceId, apiKey: record.id }), record),
        put(ownerKey, { workspaceId: record.workspaceId }),
      ],
    })
  }

  /** Writes a token, over the one of that key with its name. */
  async putAuthToken(tenant: Tenant, record: AuthTokenRecord): Promise<void> {
    await this.#kv.commit(part, { puts: [put(keys.authToken(tenant, record.name), record)] })
  }

  async #get(key: Key): Promise<unknown> {
    const [bytes] = await this.#kv.get(part, [key])
    return bytes === undefined || bytes === null ? null : decodeRecord(bytes)
  }

  async #first(prefix: Key): Promise<unknown> {
    const [entry] = await this.#kv.scan(part, { prefix, limit: 1 })
    return entry === undefined ? null : decodeRecord(entry.value)
  }
}
