/** One line for one event. What people have written is shown as JSON: it could hold anything, line breaks too. */
export function lineOf({ service, form, event }) {
  const { actionType, timestamp, data, actionUser = data.actionUser, metadata = data.metadata } = event
  const { actionUser: _user, metadata: _where, ...what } = data
  const time = new Date(timestamp).toISOString().slice(11, 19)
  const who = actionUser?.name ?? actionUser?.userId ?? 'nobody'
  const where = [metadata?.organizationId, metadata?.documentId].filter(Boolean).join('/')
  const told = JSON.stringify({ who, where, ...what })
  return `${time}  ${service}, ${form}  ${actionType}  ${told.length > 300 ? `${told.slice(0, 300)}…` : told}`
}
