// Loads the conformance suite of MCP on Node 20: it imports `globSync` of `fs`, which newer versions have, but uses it
// only to find the results of earlier runs. The suite then finds none.
import { register } from 'node:module'

const fs = `export * from 'node:fs'; export { default } from 'node:fs'; export const globSync = () => []`
const hooks = `
export async function resolve(specifier, context, next) {
  return specifier === 'fs' && context.parentURL?.includes('/conformance/')
    ? { url: ${JSON.stringify(`data:text/javascript,${encodeURIComponent(fs)}`)}, shortCircuit: true }
    : next(specifier, context)
}`
register(`data:text/javascript,${encodeURIComponent(hooks)}`)
