import { once } from 'node:events'
import { WebSocket } from 'ws'

/** Memory of a process after garbage collection, in bytes. */
export interface Heap {
  /** Memory of JavaScript values. */
  readonly usedBytes: number
  /** Memory of buffers outside of the heap. */
  readonly bufferBytes: number
}

/** A response with a reference to an object in the other process. */
type Remote<Name extends string> = Record<Name, { readonly objectId: string; readonly value: number }>

/** Options of Node for a process that can be inspected at a port and prints nothing about it. */
export const inspectable = (port: number): string => `--inspect=127.0.0.1:${port} --inspect-publish-uid=http`

/** Inspects a running process by the Chrome DevTools protocol, without code of its own in the process. */
export class Inspector {
  readonly #socket: WebSocket
  #calls = 0

  private constructor(socket: WebSocket) {
    this.#socket = socket
  }

  static async connect(port: number): Promise<Inspector> {
    const response = await fetch(`http://127.0.0.1:${port}/json/list`)
    const [target] = (await response.json()) as [{ webSocketDebuggerUrl: string }]
    const socket = new WebSocket(target.webSocketDebuggerUrl, { perMessageDeflate: false })
    await once(socket, 'open')
    return new Inspector(socket)
  }

  /** Collects garbage twice, because the second run frees what the first one has finalized. */
  async heap(): Promise<Heap> {
    for (let time = 0; time < 2; time++) await this.#call('HeapProfiler.collectGarbage')
    const usage = (await this.evaluate('process.memoryUsage()')) as {
      heapUsed: number
      arrayBuffers: number
    }
    return { usedBytes: usage.heapUsed, bufferBytes: usage.arrayBuffers }
  }

  /**
   * Returns the resources that keep the event loop alive, counted by kind (sockets, disk requests), and all
   * timers.
   */
  async resources(): Promise<Readonly<Record<string, number>>> {
    const names = (await this.evaluate('process.getActiveResourcesInfo()')) as readonly string[]
    const counts: Record<string, number> = { timers: await this.#timers() }
    for (const name of names) if (name !== 'Timeout') counts[name] = (counts[name] ?? 0) + 1
    return counts
  }

  /** Counts timers in the heap, because no API lists those that do not keep the event loop alive. */
  async #timers(): Promise<number> {
    const expression = 'Object.getPrototypeOf(setTimeout(() => {}, 0))'
    const { result } = (await this.#call('Runtime.evaluate', { expression })) as Remote<'result'>
    const { objectId: prototypeObjectId } = result
    const { objects } = (await this.#call('Runtime.queryObjects', { prototypeObjectId })) as Remote<'objects'>
    const functionDeclaration = 'function () { return this.length }'
    const counted = { objectId: objects.objectId, functionDeclaration, returnByValue: true }
    const { result: length } = (await this.#call('Runtime.callFunctionOn', counted)) as Remote<'result'>
    for (const each of [result, objects])
      await this.#call('Runtime.releaseObject', { objectId: each.objectId })
    return length.value
  }

  /** Returns the value of an expression as JSON. */
  async evaluate(expression: string): Promise<unknown> {
    const answer = await this.#call('Runtime.evaluate', { expression, returnByValue: true })
    return (answer as { result: { value?: unknown } }).result.value
  }

  close(): void {
    this.#socket.terminate()
  }

  #call(method: string, params: object = {}): Promise<unknown> {
    const id = ++this.#calls
    return new Promise((resolve, reject) => {
      const look = (data: Buffer): void => {
        const answer = JSON.parse(data.toString()) as { id?: number; result?: unknown; error?: unknown }
        if (answer.id !== id) return
        this.#socket.off('message', look)
        if (answer.error === undefined) resolve(answer.result)
        else reject(new Error(JSON.stringify(answer.error)))
      }
      this.#socket.on('message', look)
      this.#socket.send(JSON.stringify({ id, method, params }))
    })
  }
}
