import type { TenantCaller } from '../../core/access/credentials/authenticator.ts'
import { withoutEmails } from '../../core/model/named-users.ts'

/** Returns the data of a response for its caller: an agent gets no email addresses of users. */
export const withVisibleUsers = <Data>({ level }: Pick<TenantCaller, 'level'>, data: Data): Data =>
  level === 'agent' ? withoutEmails(data) : data
