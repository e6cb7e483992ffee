import type { CallOptions, ListMethod, OperationEntry } from './methods.ts'
import type { WeftApi } from './operation-types.ts'
import { operations } from './operations.ts'
import { type Result, WeftError } from './result.ts'

/** Executes one call. Resolves also if the call fails. */
export type Send = (operation: OperationEntry, data: object, options: CallOptions) => Promise<Result<unknown>>

/** Returns the methods of all operations, which make their calls with `send`. */
export function createApi(send: Send): WeftApi {
  const api: Branch = {}
  for (const [name, operation] of Object.entries<OperationEntry>(operations)) {
    const parts = name.split('.')
    const last = parts.pop() ?? name
    let branch = api
    for (const part of parts) branch = branchAt(branch, part)
    branch[last] = methodOf(operation, send)
  }
  return api as unknown as WeftApi
}

interface Branch {
  [name: string]: Branch | Method
}

type Method = (data?: object, options?: CallOptions) => Promise<Result<unknown>>

function branchAt(parent: Branch, name: string): Branch {
  const branch = parent[name] ?? {}
  if (typeof branch === 'function') throw new TypeError(`the operation ${name} cannot contain operations`)
  parent[name] = branch
  return branch
}

function methodOf(operation: OperationEntry, send: Send): Method {
  const method: Method = (data = {}, options = {}) => send(operation, data, options)
  return operation.pages === null ? method : listMethod(method, operation.pages)
}

function listMethod(
  method: Method,
  { token, items }: NonNullable<OperationEntry['pages']>,
): ListMethod<[data?: object, options?: CallOptions], unknown, never, unknown> & Method {
  async function* pages(data: object = {}, options: CallOptions = {}): AsyncGenerator<unknown, void> {
    let next: string | null | undefined
    do {
      const result = await method(next === undefined ? data : { ...data, [token]: next }, options)
      if (!result.ok) throw new WeftError(result.error)
      yield result.data
      next =
        token === 'pageToken'
          ? result.nextPage
          : (result.data as { readonly iterator: string | null }).iterator
    } while (typeof next === 'string')
  }
  async function* each(data?: object, options?: CallOptions): AsyncGenerator<unknown, void> {
    for await (const page of pages(data, options))
      yield* (
        items === null ? page : (page as Readonly<Record<string, unknown>>)[items]
      ) as readonly unknown[]
  }
  return Object.assign(method, { pages, items: each }) as ListMethod<
    [data?: object, options?: CallOptions],
    unknown,
    never,
    unknown
  > &
    Method
}
