import { ApiError, errorMessage } from '../base/errors.ts'
import * as s from '../base/schema.ts'
import { type DocumentScope, documentPrefix } from '../model/address.ts'
import type { Cluster } from '../store/engine.ts'
import type { NodeRequests } from '../store/node-requests.ts'

/** Maximum time in ms for which a node waits until another node has done its work. */
const workMs = 30_000

/** Reply of the owner. `problem`: why the work is not done; null if it is done. */
const outcomeSchema = s.object({ problem: s.orNull(s.string) })
type Outcome = s.TypeOf<typeof outcomeSchema>

/** The data of a piece of work. It names the document whose owner does the work. */
interface WorkOn {
  readonly address: DocumentScope
}

/**
 * Runs background work at the owner of a document. Requests to other nodes can be lost or arrive late, so the
 * work must be idempotent, and a caller must call again after an error. The jobs of a queue do so.
 */
export class OwnerWork {
  readonly #requests: NodeRequests
  readonly #cluster: Cluster

  constructor(requests: NodeRequests, cluster: Cluster) {
    this.#requests = requests
    this.#cluster = cluster
  }

  /**
   * Defines a kind of work. Returns the function that runs it at the owner of its document, and that resolves when
   * the work is done. The function throws the errors of `work`, and NotOwnerError or ApiError UNAVAILABLE if the
   * owner has changed, or another node has not done the work in time.
   * @param name unique name of the work
   */
  define<Work extends WorkOn>(
    name: string,
    schema: s.SchemaOf<Work>,
    work: (given: Work) => Promise<void>,
  ): (given: Work) => Promise<void> {
    const topic = `owner.${name}`
    const here = async (given: Work): Promise<void> => {
      await this.#cluster.hold(documentOf(given))
      await work(given)
    }
    this.#requests.answer(topic, schema, (given) => here(given).then(isDone, isNotDone))
    return async (given) => {
      const { id } = this.#cluster.owner(documentOf(given))
      if (id === this.#cluster.self) return here(given)
      const request = { to: id, name: topic, payload: given }
      const outcome = await this.#requests.askNode(request, outcomeSchema, workMs)
      if (outcome?.problem === null) return
      throw new ApiError(
        'server/background-failed',
        `the node of the document has not done the work: ${outcome?.problem ?? 'it did not answer'}`,
      )
    }
  }
}

const documentOf = ({ address }: WorkOn) => documentPrefix(address, address.documentId)

const isDone = (): Outcome => ({ problem: null })
const isNotDone = (error: unknown): Outcome => ({ problem: errorMessage(error) })
