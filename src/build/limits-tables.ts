import { commentLimits } from '../capabilities/comments/limits.ts'
import { memoryLimits } from '../capabilities/decisions/limits.ts'
import { versionLimits } from '../capabilities/history/limits.ts'
import { notificationLimits } from '../capabilities/notifications/limits.ts'
import { subscriptionLimits } from '../capabilities/webhooks/limits.ts'
import { tokenLengthMax } from '../core/access/tokens/realtime-tokens.ts'
import { branchLimits } from '../core/directory/branches/branch-records.ts'
import { directoryLimits } from '../core/directory/limits.ts'
import { groupsOfUserMax } from '../core/directory/services/group-service.ts'
import { domainsMax } from '../core/directory/tenants/domain-service.ts'
import { apiKeysMax, authTokensMax } from '../core/directory/tenants/tenant-store.ts'
import { idBytesMax } from '../core/model/address.ts'
import { limits } from '../core/model/limits.ts'
import { statesMax } from '../core/rooms/awareness/room-awareness.ts'
import { clientsMax, structsMax, subdocumentsMax, valuesMax } from '../core/update/read-update.ts'
import { bodyValuesMax } from '../rest/http/request-body.ts'
import { pageSizeMax } from '../rest/paging/page-request.ts'
import { batchMax, lookupMax, metadataBytesMax } from '../rest/schemas/resource-schema.ts'
import { pairsMax } from '../rest/v2/auth/permissions/get.ts'
import { editorsMax } from '../rest/v2/crdt/get.ts'

/** A row of the table of records: each `of` has at most `max` of `what`. */
type Row = readonly [of: string, what: string, max: number]

/** Limits of stored records, and of inputs as a whole. The API reference has the limits of single members of requests. */
const records: readonly Row[] = [
  ['workspace', 'API keys', apiKeysMax],
  ['API key', 'auth tokens', authTokensMax],
  ['API key', 'domains', domainsMax],
  ['API key', 'endpoints', subscriptionLimits.endpoints],
  ['API key', 'judgments; above the limit, the oldest are deleted', memoryLimits.judgments],
  [
    'API key',
    'characters of all judgments; above the limit, the oldest are deleted',
    memoryLimits.characters,
  ],
  ['id', 'bytes of UTF-8', idBytesMax],
  ['realtime token', 'characters', tokenLengthMax],
  ['request body', 'arrays, objects and commas', bodyValuesMax],
  ['batch', 'items', batchMax],
  ['look-up', 'ids', lookupMax],
  ['page', 'items (`pageSize`)', pageSizeMax],
  ['`metadata`', 'bytes as JSON', metadataBytesMax],
  ['`permissions/get`', 'users times resources', pairsMax],
  ['`crdt/get`', 'editors without `editorId`', editorsMax],
  ['organization', 'folders', directoryLimits.folders],
  ['organization', 'nested levels of folders', directoryLimits.folderDepth],
  ['user', 'groups in an organization', groupsOfUserMax],
  ['document', 'branches, over all editors', branchLimits.branches],
  ['editor', 'clients that show presence', statesMax],
  ['editor', 'saved versions that calls create', versionLimits.manual],
  ['editor', 'automatic versions; above the limit, the oldest is deleted', versionLimits.automatic],
  ['editor', 'prunes', versionLimits.prunes],
  ['version', 'authors', versionLimits.authors],
  ['annotation', 'comments', commentLimits.comments],
  ['comment', 'bytes of its text', commentLimits.textBytes],
  ['comment', 'reactions', commentLimits.reactions],
  ['notification', 'users in `notifyUsers`', notificationLimits.notifyUsers],
  ['content', 'nested levels of plain values, embeds and formatting values', limits.jsonDepth],
  ['content', 'nested levels of shared types, including the root', limits.typeDepth],
  ['content', 'elements, texts and values', limits.nodes],
  ['content', 'attributes of an XML element', limits.attributes],
  ['content', 'characters of a text in Markdown', limits.markdownCharacters],
  [
    'content',
    'nested lists and block quotes in Markdown; an item of a list counts as two',
    limits.markdownDepth,
  ],
  ['update', 'structs', structsMax],
  ['update', 'deleted ranges', structsMax],
  ['update', 'client ids', clientsMax],
  ['document, update', 'subdocuments', subdocumentsMax],
  ['update', 'values in lists, maps and attributes; an array or object counts as two', valuesMax],
]

const number = new Intl.NumberFormat('en')

const recordTable = (): string =>
  ['| Scope | Item | Maximum |', '|---|---|---|']
    .concat(records.map(([of, what, max]) => `| ${of} | ${what} | ${number.format(max)} |`))
    .join('\n')

/**
 * Tables of limits of the services, which `fillTables` inserts into chapters. A lower layer cannot create them.
 */
export const limitsTables: Readonly<Record<string, () => string>> = { records: recordTable }
