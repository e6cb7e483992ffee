import { type Api, CallError } from './api.ts'

/** What calls answer that do something to several things at once, by the id of each. */
export type Results = Readonly<Record<string, { readonly success: boolean; readonly message: string }>>

/** Sentences about what was not done. */
export const refusalsOf = (results: Results): readonly string[] =>
  Object.entries(results)
    .filter(([, { success }]) => !success)
    .map(([id, { message }]) => `${id}: ${message}.`)

/** A call that succeeds also where some things were not done, or none: that is an error here. @throws CallError */
export async function callForAll(api: Api, path: string, data: object): Promise<void> {
  const refusals = refusalsOf(await api.call<Results>(path, data))
  if (refusals.length > 0) throw new CallError('FAILED_PRECONDITION', refusals.join(' '))
}
