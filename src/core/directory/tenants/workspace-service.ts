import { randomBytes } from 'node:crypto'
import type { Clock } from '../../base/clock.ts'
import { ApiError } from '../../base/errors.ts'
import type { Rate } from '../../config/option-parsers.ts'
import type { Tenant } from '../../model/address.ts'
import type { Bus } from '../../store/engine.ts'
import { authTokensFence } from '../organizations/access-change.ts'
import {
  type ApiKeyRecord,
  type AuthTokenRecord,
  authTokenRecordType,
  type RetiredTokensRecord,
  retiredTokensRecordType,
  type WorkspaceRecord,
  workspaceRecordType,
} from '../store/records.ts'
import type { Transaction } from '../store/transaction.ts'
import { writeNewDomains } from './domain-service.ts'
import { authTokensMax, putNewApiKey, type TenantStore } from './tenant-store.ts'
import { credentialsRevokedTopic } from './token-revocations.ts'
import { workspaceKeys } from './workspace-keys.ts'

/** Name of the first auth token of an API key. */
export const defaultTokenName = 'default'
/**
 * Maximum number of replaced tokens of one API key or one workspace that stay valid. Beyond this number, the
 * oldest ones become invalid first.
 */
const retiredTokensMax = 10

export type NewWorkspace = Pick<WorkspaceRecord, 'name' | 'storedBytesMax'> & {
  readonly owner: Omit<WorkspaceRecord['owner'], 'id'>
}

interface NewApiKey extends Pick<ApiKeyRecord, 'type' | 'apiKeyName'> {
  /** Id of the new key, which must be unused. Generated if absent. */
  readonly id?: string
  /** Domains whose pages may use the key, in the form that `normalizeDomain` returns. */
  readonly domains: readonly string[]
}

interface TokenReset {
  /** Number of seconds for which replaced tokens stay valid. */
  readonly graceSeconds: number
  /**
   * Domains of the new token, in the form that `normalizeDomain` returns. Default: the domains of the
   * replaced token.
   */
  readonly domains?: readonly string[]
  /** The new token. Generated if absent. */
  readonly token?: string
}

export interface CreatedApiKey {
  readonly apiKey: string
  readonly authToken: string
}

/** Creates workspaces and API keys. Also replaces their tokens. */
export class WorkspaceService {
  readonly #tenants: TenantStore
  readonly #bus: Bus
  readonly #clock: Clock
  readonly #generator = new CredentialGenerator()

  constructor(tenants: TenantStore, bus: Bus, clock: Clock) {
    this.#tenants = tenants
    this.#bus = bus
    this.#clock = clock
  }

  /** Creates a workspace and one API key for testing. */
  create({
    name,
    owner,
    storedBytesMax,
  }: NewWorkspace): Promise<{ workspace: WorkspaceRecord } & CreatedApiKey> {
    const workspace: WorkspaceRecord = {
      id: this.#generator.id('ws'),
      name,
      owner: { id: this.#generator.id('user'), ...owner },
      authToken: this.#generator.secret(),
      ...(storedBytesMax !== undefined && { storedBytesMax }),
      createdAt: this.#clock.now(),
    }
    return this.#tenants.change(async (transaction) => {
      transaction.put(workspaceKeys.workspace(workspace.id), workspace)
      const key = { type: 'testing', apiKeyName: 'Default', domains: [] } as const
      return { workspace, ...(await this.#addApiKey(transaction, workspace.id, key)) }
    })
  }

  /**
   * Creates an API key.
   * @throws ApiError FAILED_PRECONDITION if the workspace has the maximum number of keys, or if the new key
   * has too many domains
   */
  createApiKey(workspaceId: string, key: NewApiKey): Promise<CreatedApiKey> {
    return this.#tenants.change((transaction) => this.#addApiKey(transaction, workspaceId, key))
  }

  /**
   * Replaces all auth tokens of an API key with a new one. The replaced tokens become invalid after
   * `graceSeconds` at the latest. Streams with an invalid token then write nothing more, and end.
   * @throws ApiError NOT_FOUND if the API key does not exist
   */
  async resetAuthToken(
    tenant: Tenant,
    { graceSeconds, domains: given, token = this.#generator.secret() }: TokenReset,
  ): Promise<AuthTokenRecord> {
    const now = this.#clock.now()
    const record = await this.#tenants.change(async (transaction) => {
      transaction.raise([authTokensFence(tenant)])
      if ((await transaction.get(workspaceKeys.apiKey(tenant))) === null) throw noSuchApiKey()
      const current = await currentTokens(transaction, tenant)
      const { name = defaultTokenName, domains = [] } = {
        ...current[0],
        ...(given && { domains: [...new Set(given)] }),
      }
      for (const old of current) transaction.delete(workspaceKeys.authToken(tenant, old.name))
      const next = { token, name, domains, createdAt: now }
      transaction.put(workspaceKeys.authToken(tenant, name), next)
      await retire(transaction, tenant, current, { now, validUntil: now + graceSeconds * 1000 })
      return next
    })
    credentialsRevokedTopic.publish(this.#bus, { kind: 'authTokens', tenant })
    return record
  }

  /**
   * Replaces the token of a workspace, and returns the new token. The replaced tokens become invalid after
   * `graceSeconds` at the latest.
   * @throws ApiError NOT_FOUND if the workspace does not exist
   */
  async resetWorkspaceToken(
    workspaceId: string,
    { graceSeconds, token: authToken = this.#generator.secret() }: Omit<TokenReset, 'domains'>,
  ): Promise<string> {
    const now = this.#clock.now()
    const times = { now, validUntil: now + graceSeconds * 1000 }
    await this.#change(workspaceId, ({ retiredTokens: earlier = [], authToken: replaced, ...others }) => {
      const retiredTokens = retiredOf(earlier, [{ token: replaced }], times)
      return { ...others, authToken, ...(retiredTokens.length > 0 && { retiredTokens }) }
    })
    return authToken
  }

  /**
   * Sets the storage limit of a workspace, in bytes. Null: the option of the server applies.
   * @throws ApiError NOT_FOUND if the workspace does not exist
   */
  limitStorage(workspaceId: string, bytesMax: number | null): Promise<void> {
    return this.#change(workspaceId, (record) => {
      const { storedBytesMax: _, ...others } = record
      return bytesMax === null ? others : { ...others, storedBytesMax: bytesMax }
    })
  }

  /**
   * Sets the rate of the calls of a workspace. Null: the workspace has no limit of its own.
   * @throws ApiError NOT_FOUND if the workspace does not exist
   */
  limitCalls(workspaceId: string, calls: Rate | null): Promise<void> {
    return this.#change(workspaceId, (record) => {
      const { calls: _, ...others } = record
      return calls === null ? others : { ...others, calls }
    })
  }

  /**
   * Sets whether a workspace keeps the authors of changes.
   * @throws ApiError NOT_FOUND if the workspace does not exist
   */
  setAttribution(workspaceId: string, isEnabled: boolean): Promise<void> {
    return this.#change(workspaceId, (record) => {
      const { attribution: _, ...others } = record
      return isEnabled ? others : { ...others, attribution: false }
    })
  }

  #change(workspaceId: string, change: (record: WorkspaceRecord) => WorkspaceRecord): Promise<void> {
    return this.#tenants.change(async (transaction) => {
      const key = workspaceKeys.workspace(workspaceId)
      const found = await transaction.get(key, workspaceRecordType)
      if (found === null) throw noSuchWorkspace()
      transaction.put(key, change(found))
    })
  }

  async #addApiKey(transaction: Transaction, workspaceId: string, key: NewApiKey): Promise<CreatedApiKey> {
    const { id: apiKey = this.#generator.id('key'), type, apiKeyName, domains } = key
    const token = this.#generator.secret()
    const createdAt = this.#clock.now()
    const tenant = { workspaceId, apiKey }
    if (!(await putNewApiKey(transaction, { id: apiKey, workspaceId, apiKeyName, type, createdAt })))
      throw new Error('a workspace has this API key already')
    const record: AuthTokenRecord = { token, name: defaultTokenName, domains: [], createdAt }
    transaction.put(workspaceKeys.authToken(tenant, record.name), record)
    if (domains.length > 0) await writeNewDomains(transaction, tenant, domains)
    return { apiKey, authToken: token }
  }
}

const noSuchWorkspace = (): ApiError =>
  new ApiError('workspace/not-found', 'the workspace does not exist; check its id')

export const noSuchApiKey = (): ApiError =>
  new ApiError('api-key/not-found', 'the API key does not exist; see /v2/workspace/apikeys/get')

/**
 * Returns the current tokens of an API key. Reads each token also by its key: the commit checks only such
 * reads, so two concurrent resets conflict.
 */
async function currentTokens(transaction: Transaction, tenant: Tenant): Promise<readonly AuthTokenRecord[]> {
  const prefix = workspaceKeys.authTokens(tenant)
  const entries = await transaction.scan({ prefix, limit: authTokensMax })
  const records = await transaction.getAll(
    entries.map(({ key }) => key),
    authTokenRecordType,
  )
  return records.filter((record) => record !== null)
}

interface GraceTimes {
  readonly now: number
  /**
   * Time at which the tokens that are replaced now expire. Tokens that were replaced earlier expire at this
   * time or before.
   */
  readonly validUntil: number
}

/** Returns all replaced tokens that are still valid, oldest first. */
const retiredOf = <Token extends object>(
  earlier: readonly (Token & { readonly validUntil: number })[],
  replaced: readonly Token[],
  { now, validUntil }: GraceTimes,
): readonly (Token & { readonly validUntil: number })[] =>
  [
    ...earlier.map((token) => ({ ...token, validUntil: Math.min(token.validUntil, validUntil) })),
    ...replaced.map((token) => ({ ...token, validUntil })),
  ]
    .filter((token) => token.validUntil > now)
    .slice(-retiredTokensMax)

async function retire(
  transaction: Transaction,
  tenant: Tenant,
  replaced: readonly AuthTokenRecord[],
  times: GraceTimes,
): Promise<void> {
  const key = workspaceKeys.retiredTokens(tenant)
  const earlier = (await transaction.get(key, retiredTokensRecordType))?.tokens ?? []
  const tokens = retiredOf<AuthTokenRecord>(earlier, replaced, times)
  if (tokens.length === 0) transaction.delete(key)
  else transaction.put(key, { tokens } satisfies RetiredTokensRecord)
}

/** Generates ids and secrets. Also records whether any were generated. */
export class CredentialGenerator {
  #used = false

  get used(): boolean {
    return this.#used
  }

  /** Returns an id with 96 random bits, such as `key_9f86d081884c7d659a2feaa0`. */
  id(kind: string): string {
    this.#used = true
    return `${kind}_${randomBytes(12).toString('hex')}`
  }

  /** Returns a secret with 256 random bits. Its characters are safe in headers and URLs. */
  secret(): string {
    this.#used = true
    return randomBytes(32).toString('base64url')
  }
}
