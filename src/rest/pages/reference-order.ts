/**
 * Last parts of paths, in the order in which users need them. Names that are not listed come after `update`.
 */
const firstNames = ['create', 'add', 'generate_token', 'list', 'get', 'query', 'update']
const lastNames = ['delete', 'remove', 'revoke_tokens']

const rankOf = (name: string): number => {
  if (firstNames.includes(name)) return firstNames.indexOf(name)
  return firstNames.length + (lastNames.includes(name) ? 1 + lastNames.indexOf(name) : 0)
}

/** Returns the two parts of a path without the version: the resource and the name of the operation. */
function partsOf(path: string): readonly [resource: string, name: string] {
  const end = path.lastIndexOf('/')
  return [path.slice(path.indexOf('/', 1), end), path.slice(end + 1)]
}

/** Compares the paths of two operations of the same tag. Sorts by resource, then by what users need first. */
export function compareOperations(one: string, other: string): number {
  const [[resource, name], [otherResource, otherName]] = [partsOf(one), partsOf(other)]
  if (resource !== otherResource) return resource < otherResource ? -1 : 1
  const difference = rankOf(name) - rankOf(otherName)
  if (difference !== 0) return difference
  // The operation of the newer API version comes first.
  return one < other ? 1 : -1
}
