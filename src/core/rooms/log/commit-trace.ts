import { type CurrentTrace, currentTrace, runTraced } from '../../base/current-trace.ts'
import type { Span, SpanSource } from '../../base/span.ts'
import type { DocumentAddress } from '../../model/address.ts'
import { errorTypeOf } from '../../tracing/error-type.ts'
import { runSpan } from '../../tracing/run-span.ts'
import { type Change, updateBytesOf } from '../updates/change.ts'

/**
 * The spans of one commit: `weft.commit` from the append until it is durable, then `weft.broadcast`. If clients have
 * sent the updates, `weft.update` contains both and starts when the first update arrived. If the commit fails, its
 * spans end with the error, and there is no broadcast.
 */
export class CommitTrace {
  /** The trace for the log and for the events that the commit causes. */
  readonly current: CurrentTrace
  readonly #update: Span | null
  readonly #commit: Span | null
  /** True once the commit is durable or has failed. A room may fail while it sends a durable commit. */
  #isDecided = false

  private constructor(
    current: CurrentTrace,
    update: Span | null,
    address: DocumentAddress,
    updates: readonly Change[],
  ) {
    this.current = current
    this.#update = update
    const attributes = attributesOf(address, updates)
    this.#commit = current.spans?.start('weft.commit', { parent: current.context, attributes }) ?? null
  }

  /**
   * Starts the trace of a commit. Returns null if the commit is not traced. Updates of a backend belong to its call;
   * the sampler decides about those of clients, once for each commit.
   * @param since arrival time of the first update, in epoch milliseconds
   */
  static start(
    spans: SpanSource | null,
    address: DocumentAddress,
    updates: readonly Change[],
    since: number,
  ): CommitTrace | null {
    if (updates[0]?.from === null) {
      const trace = currentTrace()
      return trace === undefined ? null : new CommitTrace(trace, null, address, updates)
    }
    const update = spans?.startUpdate('weft.update', { kind: 'server', startMs: since }) ?? null
    if (update === null) return null
    update.set(attributesOf(address, updates))
    return new CommitTrace({ context: update.context, spans }, update, address, updates)
  }

  /** Ends the commit, because it is durable, and runs `send` as the broadcast to the members. */
  broadcast(members: number, send: () => void): void {
    this.#isDecided = true
    this.#commit?.end()
    const { context, spans } = this.current
    const attributes = { 'weft.members': members }
    const span = spans?.start('weft.broadcast', { parent: context, attributes }) ?? null
    runSpan(this.#update, () => runSpan(span, () => runTraced(this.current, send)))
  }

  /** Ends the spans, because the commit was rejected or has an unknown outcome. Does nothing after the broadcast. */
  failed(error: unknown): void {
    if (this.#isDecided) return
    this.#isDecided = true
    this.#commit?.end(errorTypeOf(error))
    this.#update?.end(errorTypeOf(error))
  }
}

const attributesOf = (
  { workspaceId, organizationId, documentId, editorId }: DocumentAddress,
  updates: readonly Change[],
) => ({
  'weft.workspace_id': workspaceId,
  'weft.organization_id': organizationId,
  'weft.document_id': documentId,
  'weft.editor_id': editorId,
  'weft.updates': updates.length,
  'weft.bytes': updateBytesOf(updates),
})
