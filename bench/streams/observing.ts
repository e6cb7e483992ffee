import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import * as Y from 'yjs'
import { endWithThis } from '../../src/cli/bench/ending.ts'
import type { BenchServer } from '../support/server.ts'

type Clocks = readonly (readonly [client: number, clock: number])[]

/** A transaction of the observer: its time on the clock of the machine in ms, and the clients that it has advanced. */
export interface Observed {
  readonly at: number
  readonly changed: Clocks
}

export type ObserverOrder =
  | { readonly is: 'open'; readonly syncUrl: string; readonly document: string; readonly token: string }
  | { readonly is: 'take'; readonly clocks: Clocks }

/** A user in a separate process, who only reads. */
export class Observer {
  readonly #child: ChildProcess

  constructor() {
    this.#child = fork(join(import.meta.dirname, 'observer.ts'), { execArgv: ['--import', 'tsx'] })
    endWithThis(this.#child)
  }

  /** Opens a document, and closes the previous one. Resolves when the observer has its content. */
  async open({ syncUrl }: Pick<BenchServer, 'syncUrl'>, document: string, token: string): Promise<void> {
    await this.#order({ is: 'open', syncUrl, document, token })
  }

  /** Resolves with the transactions since the last call, when the observer has the whole content of an editor. */
  take(editor: Y.Doc): Promise<readonly Observed[]> {
    const clocks = [...Y.decodeStateVector(Y.encodeStateVector(editor))]
    return this.#order({ is: 'take', clocks })
  }

  async #order(order: ObserverOrder): Promise<readonly Observed[]> {
    this.#child.send(order)
    const [observed] = (await once(this.#child, 'message')) as [readonly Observed[]]
    return observed
  }
}
