import {
  organizationPart,
  tenantKeys,
  tenantPart,
} from '../../../core/directory/organizations/organization-keys.ts'
import type { AuthTokenRecord, WorkspaceRecord } from '../../../core/directory/store/records.ts'
import { clusterPart } from '../../../core/directory/tenants/cluster-credentials.ts'
import type { Key } from '../../../core/store/engine.ts'
import type { StoredEntry } from '../../../core/store/stored-entry.ts'
import { isObjectPart } from '../../backups/objects/object-index.ts'
import { isFeedPart } from '../../feed/feed-records.ts'
import type { CallbacksRecord } from '../../webhooks/callback-records.ts'
import type { BasicConfig, EndpointRecord } from '../../webhooks/webhook-records.ts'

type StoredValue = Extract<StoredEntry, { is: 'value' }>

const [organizations] = organizationPart({ workspaceId: '', apiKey: '', organizationId: '' })
const [tenants] = tenantPart({ workspaceId: '', apiKey: '' })
const [organizationsOfTenant] = tenantKeys.organizations

/** Returns whether a value is exported: a record of the organization, or with null any record. */
export function isExported({ part, key }: StoredValue, organizationId: string | null): boolean {
  // These are about the running servers, the events of change feeds, and the places of other contents.
  if (part[0] === clusterPart[0] || isFeedPart(part) || isObjectPart(part)) return false
  if (organizationId === null) return true
  if (part[0] === organizations) return part[3] === organizationId
  return part[0] === tenants && key[0] === organizationsOfTenant && key[1] === organizationId
}

/**
 * Returns the line of a value: its JSON, or base64 of bytes that are not JSON. Returns null if the whole record is
 * secret.
 */
export function recordLine({ part, key, value }: StoredValue): object | null {
  const bytes = Buffer.from(value.buffer, value.byteOffset, value.length)
  let stored: unknown
  try {
    stored = JSON.parse(bytes.toString())
  } catch {
    return { part, key, base64: bytes.toString('base64') }
  }
  const json = withoutSecrets(part, key, stored)
  return json === null ? null : { part, key, json }
}

/**
 * Functions that remove secrets in plain text from records. The key of a function consists of the first
 * segment of the partition, the record kind in the stored key, and the number of segments of the stored key.
 */
const redactions: ReadonlyMap<string, (record: unknown) => unknown> = new Map<
  string,
  (record: unknown) => unknown
>([
  ['directory workspaces 2', withoutWorkspaceToken],
  ['directory authTokens 5', withoutAuthToken],
  ['directory retiredTokens 4', () => null],
  ['webhooks endpoints 2', withoutSigningSecret],
  ['webhooks callbacks 1', withoutSigningSecret],
  ['webhooks basic 1', withoutReceiverToken],
])

/** Returns a record without its secrets; null if all of it is secret. Digests and encrypted values are not secrets. */
function withoutSecrets(part: Key, key: Key, record: unknown): unknown {
  const kind = part[0] === 'directory' && key.length > 2 ? key[2] : key[0]
  const redact = redactions.get(`${part[0]} ${kind} ${key.length}`)
  return redact === undefined ? record : redact(record)
}

function withoutWorkspaceToken(record: unknown): unknown {
  const { retiredTokens: _, ...others } = record as WorkspaceRecord
  return { ...others, authToken: '' }
}

function withoutAuthToken(record: unknown): unknown {
  return { ...(record as AuthTokenRecord), token: '' }
}

function withoutSigningSecret(record: unknown): unknown {
  return { ...(record as EndpointRecord | CallbacksRecord), secret: '', previousSecret: null }
}

function withoutReceiverToken(record: unknown): unknown {
  const config = record as BasicConfig
  return { ...config, webhookServiceConfig: { ...config.webhookServiceConfig, authToken: '' } }
}
