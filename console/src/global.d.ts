/** True in development builds, which have the style guide. */
declare const DEVELOPMENT: boolean;
