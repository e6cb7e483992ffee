const roles = ['editor', 'suggester', 'viewer']

/**
 * DEMO ONLY: a user can take every name and role in the address of the page. Before production, return the user
 * of your own session instead, and the role that this user has on the document. Return null if there is none.
 */
export function demoUser(request, document) {
  const { searchParams } = new URL(request.url)
  const name = searchParams.get('name') ?? ''
  const role = searchParams.get('role') ?? 'editor'
  const isValid = name !== '' && name.length <= 50 && roles.includes(role)
  return isValid && document.organizationId === 'demo' ? { userId: name.toLowerCase(), name, role } : null
}
