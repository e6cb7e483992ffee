/** Schemes of links that HTML may have. Links with other schemes, such as `javascript:`, lose their address. */
const linkSchemes = /^(?:https?|ftps?|mailto|tel|callto|sms|cid|xmpp):/i
const imageSchemes = /^(?:https?:|data:image\/(?:png|jpeg|gif|webp|avif);|blob:|cid:)/i
const hasScheme = /^[a-z][a-z0-9+.-]*:/i
/** Schemes that run scripts or read files. Markdown keeps links with all other schemes, as CommonMark defines them. */
const scriptSchemes = /^(?:javascript|vbscript|data|file):/i
/** Characters that browsers ignore in addresses: control characters and white space. */
const ignored = /[\u0000-\u0020\u007f-\u00a0\u1680\u180e\u2000-\u2029\u205f\u3000\ufeff]/g

/** Returns whether a link with this address runs no script. Relative addresses are safe. */
export const isSafeLink = (address: string): boolean => isSafe(address, linkSchemes)

/** Returns whether an image with this address runs no script. */
export const isSafeImage = (address: string): boolean => isSafe(address, imageSchemes)

/** Returns whether a link or an image of Markdown may run a script at this address. */
export const mayRunScript = (address: string): boolean =>
  scriptSchemes.test(plainForm(address)) && !isSafeImage(address)

function isSafe(address: string, schemes: RegExp): boolean {
  const plain = plainForm(address)
  return !hasScheme.test(plain) || schemes.test(plain)
}

const plainForm = (address: string): string => address.normalize('NFKC').replace(ignored, '')
