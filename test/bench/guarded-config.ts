/** What the guarded route of a bench declares. */
export const guardedConfig = {
  tenant: 'required',
  userInfo: true,
  resources: true,
  require: 'menu:read',
} as const
