import type { BenchServer } from '../support/server.ts'
import type { AgentTask, AnchorPositions, BlockIndex } from './task.ts'

export interface DocumentAddress {
  readonly organizationId: string
  readonly documentId: string
  readonly editorId: string
  readonly contentKey: string
}

/** How an agent changes a document. */
export interface Way {
  readonly name: string
  readonly write: 'edits' | 'markdown' | 'xml'
  /** Whether the agent sends the version that it has read as `baseVersion`. */
  readonly sendsBase: boolean
}

export const ways: readonly Way[] = [
  { name: 'edits', write: 'edits', sendsBase: true },
  { name: 'whole Markdown, baseVersion', write: 'markdown', sendsBase: true },
  { name: 'whole Markdown', write: 'markdown', sendsBase: false },
  { name: 'whole XML, baseVersion', write: 'xml', sendsBase: true },
  { name: 'whole XML', write: 'xml', sendsBase: false },
]

/** The content that an agent has read, with its version and the anchor of the comment. */
interface Reading {
  readonly content: string
  readonly version: string
  readonly anchor: AnchorPositions
}

const noAnchor: AnchorPositions = { position: '', positionEnd: '' }
const agent = { userId: 'agent', name: 'Agent' }
const user = { userId: 'user-0', name: 'User' }

export class ScriptedAgent {
  readonly #server: BenchServer
  readonly #address: DocumentAddress
  readonly #task: AgentTask
  readonly #way: Way
  /** Characters of JSON that the agent has read and sent. Addresses and versions are not included. */
  read = 0
  sent = 0
  /** Bytes of the updates that the server has sent to clients. */
  bytes = 0

  constructor(server: BenchServer, address: DocumentAddress, task: AgentTask, way: Way) {
    this.#server = server
    this.#address = address
    this.#task = task
    this.#way = way
  }

  /** Adds the comment of the task as a user. */
  async comment(): Promise<void> {
    const { comment } = this.#task
    if (comment === undefined) return
    const { quote, question } = comment
    const anchor = { editorId: this.#address.editorId, quote }
    const annotation = {
      annotationId: this.#address.documentId,
      anchor,
      comments: [{ from: user, text: question }],
    }
    await this.#call('/v2/commentannotations/add', {
      ...this.#document(),
      actionUser: user,
      annotations: [annotation],
    })
  }

  /** Reads the content in the format of the way, and the comment. */
  async readContent(): Promise<Reading> {
    const format = this.#way.write === 'xml' ? 'xml' : 'markdown'
    const [root] = (await this.#call('/v2/crdt/get', { ...this.#address, format })) as [
      { readonly data: string; readonly version: string },
    ]
    this.read += JSON.stringify(root.data).length
    if (this.#task.comment === undefined)
      return { content: root.data, version: root.version, anchor: noAnchor }
    const [annotation] = (await this.#call('/v2/commentannotations/get', {
      ...this.#document(),
      annotationIds: [this.#address.documentId],
    })) as [{ readonly anchor: AnchorPositions; readonly anchorPlace: unknown; readonly comments: unknown }]
    const { anchor, anchorPlace, comments } = annotation
    this.read += JSON.stringify({ anchor, anchorPlace, comments }).length
    const { position, positionEnd } = anchor
    return { content: root.data, version: root.version, anchor: { position, positionEnd } }
  }

  /**
   * Makes the change, and answers the comment. Returns whether the document has changed.
   * @param expectedXml the content that whole XML sends @throws WriteError if the server rejects the change
   */
  async write(
    { content, version, anchor }: Reading,
    expectedXml: string,
    block: BlockIndex,
  ): Promise<boolean> {
    const { write, sendsBase } = this.#way
    const change =
      write === 'edits'
        ? { edits: this.#task.edits(block, anchor) }
        : { type: write, data: write === 'xml' ? expectedXml : this.#task.change(content) }
    this.sent += JSON.stringify(write === 'edits' ? change.edits : change.data).length
    const { changed, bytes } = (await this.#call(`/v2/crdt/${write === 'edits' ? 'edit' : 'update'}`, {
      ...this.#address,
      ...(sendsBase ? { baseVersion: version } : {}),
      userId: agent.userId,
      ...change,
    })) as { readonly changed: boolean; readonly bytes: number }
    this.bytes += bytes
    return changed
  }

  /** Answers the comment of the task. */
  async answer(): Promise<void> {
    const { comment } = this.#task
    if (comment === undefined) return
    this.sent += JSON.stringify(comment.answer).length
    await this.#call('/v2/commentannotations/comments/add', {
      ...this.#document(),
      annotationId: this.#address.documentId,
      actionUser: agent,
      comments: [{ from: agent, text: comment.answer }],
    })
  }

  /** Returns the texts of the comments. */
  async comments(): Promise<readonly string[]> {
    const [annotation] = (await this.#call('/v2/commentannotations/get', {
      ...this.#document(),
      annotationIds: [this.#address.documentId],
    })) as [{ readonly comments: readonly { readonly text: string }[] }]
    return annotation.comments.map(({ text }) => text)
  }

  #document(): Pick<DocumentAddress, 'organizationId' | 'documentId'> {
    const { organizationId, documentId } = this.#address
    return { organizationId, documentId }
  }

  async #call(path: string, data: object): Promise<unknown> {
    const { status, body } = await this.#server.post(path, data)
    if (status === 200) return body.result?.data
    throw new WriteError(path, body.error as { readonly status: string; readonly message: string })
  }
}

/** An error of the server. */
export class WriteError extends Error {
  readonly status: string

  constructor(path: string, { status, message }: { readonly status: string; readonly message: string }) {
    super(`${path}: ${message}`)
    this.status = status
  }
}
