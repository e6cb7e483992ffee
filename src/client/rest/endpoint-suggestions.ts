import type { CrdtBranchesDiffData, EditorBranch, WeftApi } from '../api/operation-types.ts'
import { boundedText, listOf, validId } from './endpoint-body.ts'
import {
  callOptions,
  digestOf,
  type EndpointAnswer,
  type EndpointCall,
  type EndpointOperation,
  openOperation,
} from './endpoint-operation.ts'
import { isWeftError, rejected, resultForUser } from './endpoint-rejection.ts'
import { requestToken } from './endpoint-token.ts'
import type { CheckedUser, EndpointDocument } from './endpoint-user.ts'

type BranchHunk = CrdtBranchesDiffData['hunks'][number]

/** A change that a user suggests: a hunk of an open branch, as the endpoint returns it. */
export interface SuggestedChange {
  readonly hunkId: string
  /** Name of its branch. */
  readonly branch: string
  /** Id of the editor that has the content of the branch. */
  readonly branchEditorId: string
  /** Id of the user who has created the branch. */
  readonly createdBy: string
  /** Id of the only known author, or else `createdBy`. */
  readonly userId: string
  /** Time of the last change; null if it is not known. */
  readonly at: string | null
  /** Its place, which the editor and the branch can resolve: Yjs relative positions in base64. */
  readonly anchor: { readonly contentKey: string; readonly position: string; readonly positionEnd: string }
  readonly deleted: string
  readonly inserted: string
  /** Names of elements. */
  readonly deletedNodes: readonly string[]
  readonly insertedNodes: readonly string[]
  /** Ids of the hunks without which this one cannot be accepted. */
  readonly dependsOn: readonly string[]
}

/** Data of a response of `suggestions/get`. */
export interface SuggestionList {
  readonly suggestions: readonly SuggestedChange[]
  /** Id of the user, who can reject the suggestions of the own branch. */
  readonly userId: string
  /** Whether the user may accept and reject the suggestions of all users. */
  readonly canDecide: boolean
}

/** Data of a response of `suggestions/start`. */
export interface StartedSuggesting {
  /** Id of the editor that has the content of the branch of the user. */
  readonly editorId: string
}

/** Maximum number of branches whose suggestions are returned. */
const branchesMax = 50
/** Maximum characters of the name of a branch, and number of hunks of a decision. A list ends with the branch that reaches it. */
const limits = { branchName: 100, hunks: 1_000 }
/** Seconds for which a token is valid that only shows the role of a user. */
const roleTokenSeconds = 60

/** Codes of a document without content. It has no branches. */
const noContent: readonly string[] = ['organization/not-found', 'document/not-found', 'crdt/no-content']

/** Returns the operations by their paths below the endpoint. */
export function createSuggestionOperations(): ReadonlyMap<string, EndpointOperation> {
  const decision = { branch: boundedText(limits.branchName), hunkIds: listOf(validId, limits.hunks) }
  return new Map([
    ['suggestions/get', openOperation({}, getSuggestions)],
    ['suggestions/start', openOperation({}, startSuggesting)],
    ['suggestions/accept', openOperation(decision, (call, chosen) => decide(call, 'merge', chosen))],
    ['suggestions/reject', openOperation(decision, (call, chosen) => decide(call, 'reject', chosen))],
  ])
}

async function getSuggestions({ api, document, user }: EndpointCall): Promise<EndpointAnswer> {
  const suggestions: SuggestedChange[] = []
  let branchesLeft = branchesMax
  try {
    for await (const branch of api.crdt.branches.list.items({ ...document, pageSize: 1_000 }, callOptions)) {
      if (branch.status !== 'open') continue
      suggestions.push(...(await suggestionsOf(api, document, branch)))
      branchesLeft -= 1
      if (branchesLeft === 0 || suggestions.length >= limits.hunks) break
    }
  } catch (error) {
    if (!(isWeftError(error) && noContent.includes(error.code))) throw error
  }
  const data: SuggestionList = { suggestions, userId: user.userId, canDecide: user.role === 'editor' }
  return { message: `${suggestions.length} suggestions found.`, data }
}

async function suggestionsOf(
  api: WeftApi,
  document: EndpointDocument,
  { name }: EditorBranch,
): Promise<readonly SuggestedChange[]> {
  const result = await api.crdt.branches.diff({ ...document, name }, callOptions)
  // The branch was deleted meanwhile.
  if (!result.ok && result.error.code === 'branch/not-found') return []
  const { branch, hunks } = resultForUser(result).data
  return hunks.map((hunk) => viewHunk(hunk, branch))
}

function viewHunk(hunk: BranchHunk, { name, branchEditorId, createdBy }: EditorBranch): SuggestedChange {
  const { hunkId, at, deleted, inserted, deletedNodes, insertedNodes, dependsOn } = hunk
  const { contentKey, position, positionEnd } = hunk.anchor
  return {
    hunkId,
    branch: name,
    branchEditorId,
    createdBy,
    userId: hunk.userId ?? createdBy,
    at,
    anchor: { contentKey, position, positionEnd },
    deleted,
    inserted,
    deletedNodes,
    insertedNodes,
    dependsOn,
  }
}

/** Returns the editor of the open branch of the user. Creates it if there is none. */
async function startSuggesting({ api, document, user }: EndpointCall): Promise<EndpointAnswer> {
  if (user.role === 'viewer') throw rejected('endpoint/denied', 'this user may not suggest changes')
  const { userId } = user
  const place = { ...document, name: await branchNameOf(userId) }
  const find = () => api.crdt.branches.get(place, callOptions)
  const found = await find()
  // A decided branch is read-only, and its name is the one of the user.
  if (found.ok && found.data.status !== 'open')
    resultForUser(await api.crdt.branches.delete(place, callOptions))
  const isOpen = found.ok && found.data.status === 'open'
  const made = isOpen ? found : await api.crdt.branches.create({ ...place, userId }, callOptions)
  // Another page of the user can have created it at the same time.
  const isThere = !made.ok && made.error.code === 'branch/exists'
  const { message, data } = resultForUser(isThere ? await find() : made)
  if (data.createdBy !== userId)
    throw rejected('endpoint/denied', 'the branch with the name of this user is of another user')
  return { message, data: { editorId: data.branchEditorId } satisfies StartedSuggesting }
}

/** Returns the id of the user if a branch can have this name. */
async function branchNameOf(userId: string): Promise<string> {
  if (userId.length <= limits.branchName / 2 && !userId.includes('@')) return userId
  return (await digestOf(['branch', userId])).slice(0, limits.branchName / 2)
}

async function decide(
  { api, document, user }: EndpointCall,
  is: 'merge' | 'reject',
  { branch: name, hunkIds }: { readonly branch: string; readonly hunkIds: readonly string[] },
): Promise<EndpointAnswer> {
  const { userId } = user
  const place = { ...document, name }
  const role = await effectiveRole(api, document, user)
  const mayWithdraw = role === 'suggester' && is === 'reject'
  const { createdBy } = mayWithdraw
    ? resultForUser(await api.crdt.branches.get(place, callOptions)).data
    : { createdBy: null }
  if (role !== 'editor' && createdBy !== userId)
    throw rejected('endpoint/cannot-decide', 'this user may not accept or reject suggestions of others')
  const { message, data } = resultForUser(
    await api.crdt.branches[is]({ ...place, hunks: [...hunkIds], userId }, callOptions),
  )
  if (data.decided.length === 0)
    throw rejected('endpoint/suggestion-changed', 'the suggestion was changed or decided meanwhile')
  return { message, data: { decided: data.decided } }
}

/** Returns the role that the user has in Weft. The permissions there can be lower than the role of the application. */
async function effectiveRole(api: WeftApi, document: EndpointDocument, user: CheckedUser): Promise<string> {
  const { token } = resultForUser(await requestToken(api, document, user, roleTokenSeconds)).data
  const { organizationId, documentId } = document
  const inspected = await api.auth.inspectToken({ token, organizationId, documentId }, callOptions)
  return resultForUser(inspected).data.accessRole ?? 'none'
}
