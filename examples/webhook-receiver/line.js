/**
 * Formats one event as one line. Text of users is printed as JSON, because it may contain anything, also line
 * breaks.
 */
export function lineOf({ service, form, event }) {
  const { actionType, timestamp, data, actionUser = data.actionUser, metadata = data.metadata } = event
  const { actionUser: _user, metadata: _where, ...what } = data
  const time = new Date(timestamp).toISOString().slice(11, 19)
  const who = actionUser?.name ?? actionUser?.userId ?? 'nobody'
  const where = [metadata?.organizationId, metadata?.documentId].filter(Boolean).join('/')
  const told = JSON.stringify({ who, where, ...what })
  return `${time}  ${service}, ${form}  ${actionType}  ${told.length > 300 ? `${told.slice(0, 300)}…` : told}`
}
