/**
 * Policy for pages whose content comes only from files of this server, without inline scripts. `'self'`
 * includes the websockets of this server.
 */
export const ownFilesPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
  "form-action 'none'",
].join('; ')
