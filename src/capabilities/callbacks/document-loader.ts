import { ApiError, errorMessage } from '../../core/base/errors.ts'
import { type InitialContent, readInitialContent } from '../../core/content/initial-content.ts'
import { prepareChange } from '../../core/content/root-change.ts'
import { addressKey, type DocumentAddress } from '../../core/model/address.ts'
import { parseBranchEditorId } from '../../core/model/branch-address.ts'
import { type EditorWriteServices, writeEditorContent } from '../../core/rooms/editor-content.ts'
import { BackendEdits } from '../../core/rooms/edits/backend-edits.ts'
import type { EditorLoader } from '../../core/rooms/edits/editor-loader.ts'
import { inlineSizeMax } from '../../core/rooms/edits/replacement.ts'
import type { RoomRegistry } from '../../core/rooms/registry/room-registry.ts'
import type { Room } from '../../core/rooms/room/room.ts'
import { keyName } from '../../core/store/key-encoding.ts'
import type { Services } from '../../rest/services.ts'
import type { CallbacksRecord } from '../webhooks/callback-records.ts'
import { notFoundMax, notFoundMs, parsedInlineMax } from './limits.ts'

type LoadingServices = Pick<
  Services,
  'documents' | 'schemas' | 'rooms' | 'callbacks' | 'subscriptions' | 'storage' | 'clock'
>

/**
 * Reads a response of `load`. Reads a large one on a thread.
 * @throws MalformedJsonError if it has the wrong form; ApiError if it cannot be read now
 */
const readLoaded = async (
  rooms: Pick<RoomRegistry, 'parse'>,
  address: DocumentAddress,
  body: Uint8Array,
): Promise<InitialContent> =>
  body.length > parsedInlineMax ? rooms.parse(address, body) : readInitialContent(body)

/** Cause of the first change of a loaded editor. */
const cause = { source: 'rest', meta: null } as const

/**
 * Creates editors that do not exist with the content that the callback `load` of their API key returns. However
 * many callers need an editor at the same time, the owner of its document makes one call and commits one change.
 */
export class DocumentLoader implements EditorLoader {
  readonly #services: LoadingServices
  readonly #loading = new Map<string, Promise<void>>()
  /** Editors for which the backend has no content, with the time until which this is remembered. */
  readonly #missing = new Map<string, number>()

  constructor(services: LoadingServices) {
    this.#services = services
  }

  async ready(address: DocumentAddress): Promise<void> {
    const callbacks = await this.#services.subscriptions.callbacksOf(address)
    if (callbacks === null || callbacks.load === null || parseBranchEditorId(address.editorId) !== null)
      return
    if (!(await this.#isAbsent(address))) return
    const name = keyName(addressKey(address))
    if ((this.#missing.get(name) ?? 0) > this.#services.clock.now()) return
    const loading = this.#loading.get(name) ?? this.#begin(name, address, callbacks)
    await loading
  }

  #begin(name: string, address: DocumentAddress, callbacks: CallbacksRecord): Promise<void> {
    const loading = this.#load(name, address, callbacks).finally(() => this.#loading.delete(name))
    this.#loading.set(name, loading)
    return loading
  }

  async #isAbsent(address: DocumentAddress): Promise<boolean> {
    const handle = await this.#services.rooms.open(address)
    const { existence } = handle.room
    handle.release()
    return existence === 'absent'
  }

  async #load(name: string, address: DocumentAddress, callbacks: CallbacksRecord): Promise<void> {
    const { documents, storage } = this.#services
    const { load } = callbacks
    if (load === null) return
    if (!(await mayCreate(documents, address))) return
    const full = await storage.errorIfFull(address.workspaceId)
    if (full !== null) throw full
    const problem = await this.#ask(name, address, callbacks)
    if (problem === null || load.onFailure === 'empty') return
    throw loadFailed(problem)
  }

  /** Calls the callback, and commits its content. Returns the reason if that fails; null if it succeeds. */
  async #ask(name: string, address: DocumentAddress, callbacks: CallbacksRecord): Promise<string | null> {
    const { rooms, callbacks: caller } = this.#services
    const { organizationId, documentId, editorId } = address
    const outcome = await caller.call({
      tenant: address,
      name: 'load',
      callbacks,
      data: { organizationId, documentId, editorId },
      userId: null,
      subject: name,
      read: (body) => readLoaded(rooms, address, body),
    })
    if (outcome.kind === 'failed') return outcome.reason
    if (outcome.answer.kind === 'none') {
      this.#remember(name)
      return null
    }
    return this.#commit(address, outcome.answer)
  }

  /** Commits content. Returns the reason if the content is invalid. Another first change takes precedence. */
  async #commit(
    address: DocumentAddress,
    content: Exclude<InitialContent, { kind: 'none' }>,
  ): Promise<string | null> {
    try {
      if (content.kind === 'update') await this.#apply(address, content)
      else await this.#write(address, content)
      return null
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      if (error.code === 'crdt/content-exists') return null
      if (
        error.status !== 'INVALID_ARGUMENT' &&
        error.status !== 'FAILED_PRECONDITION' &&
        error.status !== 'NOT_FOUND'
      )
        throw error
      return `its content is not valid: ${errorMessage(error)}`
    }
  }

  async #write(
    address: DocumentAddress,
    { target, schema, userId }: Extract<InitialContent, { kind: 'target' }>,
  ): Promise<void> {
    const change = prepareChange(target, inlineSizeMax)
    const write = { change, userId, schema }
    await writeEditorContent(this.#services, address, write, { expects: 'nothing', cause })
  }

  async #apply(
    address: DocumentAddress,
    { update, userId }: Extract<InitialContent, { kind: 'update' }>,
  ): Promise<void> {
    const { rooms, documents, schemas } = this.#services
    const making = async (): Promise<void> => void (await documents.ensure(address, address.documentId))
    const apply = async (room: Room) => {
      const [right, rootSchema] = await Promise.all([documents.rightToChange(address), schemas.of(address)])
      return new BackendEdits(room).apply(userId, update, {
        expects: 'nothing',
        cause,
        making,
        right,
        rootSchema,
      })
    }
    await rooms.use(address, apply)
  }

  #remember(name: string): void {
    this.#missing.delete(name)
    this.#missing.set(name, this.#services.clock.now() + notFoundMs)
    const [oldest] = this.#missing.keys()
    if (this.#missing.size > notFoundMax && oldest !== undefined) this.#missing.delete(oldest)
  }
}

const loadFailed = (reason: string): ApiError =>
  new ApiError('callback/load-failed', `the callback load failed: ${reason}; try again`)

/** Returns whether the editor may be created: its document is neither disabled nor being deleted. */
async function mayCreate(
  documents: Pick<EditorWriteServices['documents'], 'rightToChange'>,
  address: DocumentAddress,
): Promise<boolean> {
  try {
    await documents.rightToChange(address)
    return true
  } catch (error) {
    if (error instanceof ApiError) return false
    throw error
  }
}
