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
import { anchorLimits } from '../rest/anchor-places.ts'
import { bodyValuesMax } from '../rest/http/request-body.ts'
import { pageSizeMax } from '../rest/paging/page-request.ts'
import { batchMax, lookupMax, metadataBytesMax } from '../rest/schemas/resource-schema.ts'
import { pairsMax } from '../rest/v2/auth/permissions/get.ts'
import { editorsMax } from '../rest/v2/crdt/get.ts'

/** A row of the table of records: each `of` has at most `max` of `what`. */
type Row = readonly [of: string, what: string, max: number]

/**
 * Returns a row for each limit of a group. Limits whose description is null have no row, because they only
 * bound the work of one call.
 */
const rowsOf = <Limits extends Readonly<Record<string, number>>>(
  of: string,
  group: Limits,
  described: { readonly [Name in keyof Limits]: string | null },
): readonly Row[] => {
  const limits = new Map<string, number>(Object.entries(group))
  return Object.entries(described).flatMap(([name, what]) => {
    const max = limits.get(name)
    return what === null || max === undefined ? [] : [[of, what, max] as const]
  })
}

const records: readonly Row[] = [
  ['workspace', 'API keys', apiKeysMax],
  ['API key', 'auth tokens', authTokensMax],
  ['API key', 'domains', domainsMax],
  ['id', 'bytes of UTF-8', idBytesMax],
  ['realtime token', 'characters', tokenLengthMax],
  ['request body', 'arrays, objects and commas', bodyValuesMax],
  ['batch', 'items', batchMax],
  ['look-up', 'ids', lookupMax],
  ['page', 'items (`pageSize`)', pageSizeMax],
  ['`metadata`', 'bytes as JSON', metadataBytesMax],
  ['`permissions/get`', 'users times resources', pairsMax],
  ['`crdt/get`', 'editors without `editorId`', editorsMax],
  ...rowsOf('organization', directoryLimits, {
    folders: 'folders',
    folderDepth: 'nested levels of folders',
    lookedAtBySearch: null,
    organizationsLookedAtBySearch: null,
  }),
  ['user', 'groups in an organization', groupsOfUserMax],
  ['editor', 'clients that show presence', statesMax],
  ...rowsOf('content', limits, {
    jsonDepth: 'nested levels of plain values, embeds and formatting values',
    typeDepth: 'nested levels of shared types, including the root',
    nodes: 'elements, texts and values',
    attributes: 'attributes of an XML element',
    markdownCharacters: 'characters of a text in Markdown',
    markdownDepth: 'nested levels of lists and block quotes in Markdown; an item of a list counts as two',
  }),
  ['update', 'structs', structsMax],
  ['update', 'deleted ranges', structsMax],
  ['update', 'client ids', clientsMax],
  ['update', 'subdocuments', subdocumentsMax],
  [
    'update',
    'values in lists, maps and attributes, with nested ones; an array or object counts as two',
    valuesMax,
  ],
  ...rowsOf('document', branchLimits, {
    branches: 'branches, over all editors',
    nameCharacters: 'characters of the name of a branch',
  }),
  ...rowsOf('editor', versionLimits, {
    manual: 'saved versions that calls create',
    automatic: 'automatic versions; above the limit, the oldest is deleted',
    labelCharacters: 'characters of the label of a version',
    authors: 'authors of a version',
    listed: null,
  }),
  ...rowsOf('API key', subscriptionLimits, {
    endpoints: 'endpoints',
    channels: 'channels of an endpoint',
    filterTypes: 'event types of an endpoint',
    eventType: 'characters of an event type',
    triggersBytes: 'bytes of all triggers as JSON',
    metadataBytes: 'bytes of the metadata of an endpoint as JSON',
    url: 'characters of a URL',
    description: 'characters of a description',
    authToken: 'characters of an auth token for webhooks',
    publicKey: 'characters of a public key',
    callbackMs: 'milliseconds of the timeout of a callback',
    storeSeconds: 'seconds between two calls of `store`',
    graceSeconds: 'seconds for which a replaced webhook secret also signs',
  }),
  ...rowsOf('annotation', commentLimits, {
    commentsInCall: 'comments that one call adds',
    comments: 'comments',
    textBytes: 'bytes of the text of a comment',
    reactions: 'reactions of a comment',
    reactionsBytes: 'bytes of the reactions of a comment as JSON',
    reactionCharacters: 'characters of a reaction',
    locationBytes: 'bytes of a location as JSON',
    suggestionBytes: 'bytes of a suggestion as JSON',
    priorityCharacters: 'characters of a priority',
    contentKeyCharacters: 'characters of the `contentKey` of an anchor',
    positionBytes: 'bytes of the position of an anchor',
    quoteCharacters: 'characters of the quote of an anchor, and of the text before and after it',
    commentsShown: 'comments in a response that returns their annotation',
    shownBytes: null,
    scanned: null,
    pageBytes: null,
    quotedCharacters: 'characters that an activity quotes',
  }),
  ...rowsOf('response', anchorLimits, {
    anchorEditors: 'editors of which it shows the places of anchors',
    anchorDocumentBytes: 'bytes of an editor of which it shows the places of anchors',
  }),
  ...rowsOf('API key', memoryLimits, {
    judgments: 'judgments; above the limit, the oldest are deleted',
    characters:
      'characters of the queries and reasons of all judgments; above the limit, the oldest are deleted',
    queryCharacters: 'characters of the query of a judgment',
    caseCharacters: 'characters of the case of a suggestion',
    reasonCharacters: 'characters of the reason of a judgment',
    queryTerms: 'different words of a query that count',
    matches: null,
    termCharacters: 'characters of a word that count',
    batch: 'judgments that one call deletes',
    listed: 'judgments in one response',
    changes: null,
    indexedCharacters: null,
  }),
  ...rowsOf('notification', notificationLimits, {
    notifyUsers: 'users in `notifyUsers`',
    notifyUsersBytes: 'bytes of `notifyUsers` as JSON',
    dataBytes: 'bytes of the data of a notification as JSON',
    headlineLength: 'characters of a headline',
    readersShown: 'readers in the response',
    readersScanned: null,
    scanned: null,
    together: null,
    pageBytes: null,
    deleted: 'notifications that one call deletes',
  }),
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
