/** The shaders of the sky (GLSL ES 3.0). Positions are relative to the followed body, in the scene of the API. */

const HEADER = `
precision highp float;
precision highp int;
precision highp sampler2D;
precision highp usampler2D;

uniform mat3 rotation;
uniform vec4 lens;       // focal lengths of x and y, distance of the camera, pixels of half the height
uniform vec2 depthRange; // nearest distance, logarithm of the farthest over the nearest
uniform vec2 logRadius;  // smallest radius, reach; 0 for true distances
uniform float lift;      // of the middle of the picture, in half heights

vec3 mapRadius(vec3 p) {
  float r = length(p);
  if (logRadius.x <= 0.0 || r == 0.0) return p;
  return p * (logRadius.y * log(1.0 + r / logRadius.x) / r);
}
vec3 toEye(vec3 p) {
  vec3 eye = rotation * mapRadius(p);
  return vec3(eye.xy, eye.z - lens.z);
}
vec4 toClip(vec3 eye) {
  float w = -eye.z;
  float depth = 2.0 * log(max(w, depthRange.x) / depthRange.x) / depthRange.y - 1.0;
  return vec4(eye.x * lens.x, eye.y * lens.y + lift * w, depth * w, w);
}
`;

/** How a body of the elements texture is found: the phase in fixed point, Kepler's equation, the chain of parents. */
const BODIES = `
uniform usampler2D elements;
uniform sampler2D known; // positions that the CPU computed
uniform uint ticks;
uniform float tickRest;
uniform vec3 origin;
uniform int focus;

float cpuFade = -1.0; // of a body whose position the CPU computed
const uint KEPLER = 1u, NO_POSITION = 4u, KNOWN = 256u, IS_DISC = 512u;
const float TURN = 6.283185307179586;

uvec4 fetchWords(int index, int part) {
  return texelFetch(elements, ivec2((index & 1023) * 4 + part, index >> 10), 0);
}
float computeTurns(uint low, uint high, uint phase) {
  uint lh = low >> 16, ll = low & 65535u, th = ticks >> 16, tl = ticks & 65535u;
  uint at = phase + high * ticks + lh * th + ((lh * tl) >> 16) + ((ll * th) >> 16);
  float turns = float(int(at)) / 4294967296.0 + float(int(high)) / 4294967296.0 * tickRest;
  return turns - round(turns);
}
float solveKepler(float mean, float e) {
  float E = mean + 0.85 * e * sign(mean);
  for (int step = 0; step < 4; step++) {
    float s = e * sin(E), slope = 1.0 - e * cos(E), error = E - s - mean;
    E -= error / (slope - error * s / (2.0 * slope));
  }
  return E;
}
vec3 computeOffset(uvec4 a, uvec4 b, uvec4 c, uvec4 d) {
  vec3 P = uintBitsToFloat(b.xyz);
  vec3 Q = vec3(uintBitsToFloat(b.w), uintBitsToFloat(c.xy));
  vec3 C = vec3(uintBitsToFloat(c.w), uintBitsToFloat(d.xy));
  float angle = computeTurns(a.x, a.y, a.z) * TURN;
  if ((d.z & KEPLER) == 0u) return C + P * cos(angle) + Q * sin(angle);
  float closeness = uintBitsToFloat(c.z);
  float E = solveKepler(angle, 1.0 - closeness), half_ = sin(E * 0.5);
  return C + P * (closeness - 2.0 * half_ * half_) + Q * sin(E);
}
/** Return the position of a body; 'offset' is that from its parent, or 0 for a body without one. */
vec3 findBody(int index, out vec3 offset, out uint flags) {
  vec3 sum = vec3(0.0);
  flags = 0u;
  offset = vec3(0.0);
  for (int depth = 0; depth < 6; depth++) {
    if (index == focus) return sum;
    uvec4 d = fetchWords(index, 3);
    if (depth == 0) flags = d.z;
    uvec4 a = fetchWords(index, 0);
    if ((d.z & KNOWN) != 0u) {
      int slot = int(a.z);
      vec4 place = texelFetch(known, ivec2(slot & 255, slot >> 8), 0);
      if (depth == 0) cpuFade = place.w;
      return sum + place.xyz;
    }
    vec3 part = computeOffset(a, fetchWords(index, 1), fetchWords(index, 2), d);
    sum += part;
    index = int(a.w);
    if (depth == 0 && index >= 0) offset = part;
    if (index < 0) return sum + origin;
  }
  return sum;
}
`;

/** Fade a body that its parent would hide: by the distance of both on the screen, in pixels. */
const FADE = `
uniform float pixelRatio;
float fadeByDistance(vec3 p, vec3 offset, float w) {
  if (cpuFade >= 0.0) return cpuFade;
  if (offset == vec3(0.0)) return 1.0;
  float apart = length(mapRadius(p) - mapRadius(p - offset)) / w * lens.y * lens.w / pixelRatio;
  return smoothstep(8.0, 18.0, apart);
}
`;

/** All bodies without a disc, as points. */
export const POINT_VERTEX = `${HEADER}${BODIES}${FADE}
uniform vec2 dot_; // size in pixels, opacity
out float opacity;
flat out vec3 code;
void main() {
  vec3 offset;
  uint flags;
  vec3 p = findBody(gl_VertexID, offset, flags);
  vec3 eye = toEye(p);
  gl_Position = toClip(eye);
  gl_PointSize = dot_.x;
  opacity = dot_.y * fadeByDistance(p, offset, -eye.z);
  uint id = uint(gl_VertexID) + 1u;
  code = vec3(float(id & 255u), float((id >> 8) & 255u), float(id >> 16)) / 255.0;
  if ((flags & (NO_POSITION | IS_DISC)) != 0u || opacity < 0.01) gl_Position = vec4(2.0, 2.0, 2.0, 1.0);
}
`;
export const POINT_FRAGMENT = `
precision highp float;
uniform vec3 color;
in float opacity;
flat in vec3 code;
out vec4 drawn;
void main() {
  float d = length(gl_PointCoord * 2.0 - 1.0);
  float a = opacity * (1.0 - smoothstep(0.45, 1.0, d));
  drawn = vec4(color * a, a);
}
`;
export const PICK_FRAGMENT = `
precision highp float;
in float opacity;
flat in vec3 code;
out vec4 drawn;
void main() { drawn = vec4(code, 1.0); }
`;

/** The position of each body as a pixel, to read it back. */
export const POSITION_VERTEX = `${HEADER}${BODIES}
uniform vec2 size;
flat out vec3 place;
void main() {
  vec3 offset;
  uint flags;
  place = findBody(gl_VertexID, offset, flags);
  vec2 pixel = vec2(float(gl_VertexID % int(size.x)), float(gl_VertexID / int(size.x))) + 0.5;
  gl_Position = vec4(pixel / size * 2.0 - 1.0, 0.0, 1.0);
  gl_PointSize = 1.0;
}
`;
export const POSITION_FRAGMENT = `
precision highp float;
flat in vec3 place;
out vec4 drawn;
void main() { drawn = vec4(place, 1.0); }
`;

/** Stars, planets and moons: discs that face the camera, lit by their star. */
export const DISC_VERTEX = `${HEADER}${BODIES}${FADE}
uniform vec3 light;
uniform bool isReal;
in vec2 corner;
in float body;
in vec3 color;
in vec3 looks; // readable radius in pixels, true radius, 1 for a star
out vec2 place;
out float opacity;
flat out vec3 tint;
flat out vec3 toLight;
flat out vec4 shape; // radius in pixels, glow beyond it, 1 for a star, pixel in radii
void main() {
  vec3 offset;
  uint flags;
  vec3 p = findBody(int(body), offset, flags);
  vec3 eye = toEye(p);
  float w = max(-eye.z, 1e-30);
  float trueRadius = logRadius.x > 0.0 ? 0.0 : looks.y / w * lens.y * lens.w;
  float radius = max(isReal ? 0.75 * pixelRatio : looks.x * pixelRatio, trueRadius);
  float glow = looks.z > 0.5 ? (isReal ? 1.0 : 5.0) : 1.0;
  float reach = radius * glow + 1.5;
  opacity = int(body) == focus || isReal ? 1.0 : fadeByDistance(p, offset, w);
  place = corner * reach / radius;
  tint = color;
  shape = vec4(radius, glow, looks.z, 1.0 / radius);
  vec3 ray = rotation * (mapRadius(light) - mapRadius(p));
  toLight = length(ray) > 0.0 ? normalize(ray) : vec3(0.0, 0.0, 1.0);
  gl_Position = toClip(eye);
  gl_Position.xy += corner * reach * vec2(lens.x / lens.y, 1.0) / lens.w * gl_Position.w;
  if ((flags & NO_POSITION) != 0u || opacity < 0.01) gl_Position = vec4(2.0, 2.0, 2.0, 1.0);
}
`;
export const DISC_FRAGMENT = `
precision highp float;
in vec2 place;
in float opacity;
flat in vec3 tint;
flat in vec3 toLight;
flat in vec4 shape;
out vec4 drawn;
void main() {
  float d = length(place);
  float inside = 1.0 - smoothstep(1.0 - shape.w, 1.0 + shape.w * 0.5, d);
  if (shape.z > 0.5) {
    vec3 core = mix(vec3(1.0, 0.985, 0.95), tint, smoothstep(0.1, 1.05, d));
    float glow = shape.y > 1.0 ? pow(max(1.0 - d / shape.y, 0.0), 3.0) * 0.38 : 0.0;
    float a = max(inside, glow);
    vec3 c = core * inside + tint * glow * (1.0 - inside);
    drawn = vec4(c, inside) * opacity;
    if (a < 0.004) discard;
    return;
  }
  if (inside < 0.01) discard;
  vec3 normal = vec3(place, sqrt(max(1.0 - d * d, 0.0)));
  float lit = smoothstep(-0.25, 0.85, dot(normal, toLight));
  float night = mix(0.5, 0.1, smoothstep(4.0, 40.0, shape.x)); // a small disc must be seen from its night side too
  drawn = vec4(tint * mix(night, 1.04, lit), 1.0) * inside * opacity;
}
`;

/**
 * Orbits as ribbons that face the camera, brightest behind the body. Points are computed relative to the body, so that
 * the line passes through it at any scale: a sum of the parent's position and the offset would lose the small difference.
 */
export const ORBIT_VERTEX = `${HEADER}
uniform float width;
in vec2 strip; // along from -1 to 1, side
in vec3 P;
in vec3 Q;
in vec4 conic;  // kind, 1 - e or (1 - e) / (1 + e), farthest parameter or density at the periapsis, crowding
in vec4 centre; // position of the body on the orbit, its parameter
in vec4 paint;  // colour, opacity
out float side;
out float opacity;
flat out vec3 tint;
const float HALF_TURN = 3.141592653589793;
/** Return the part of the way from the body to the end of the line: points crowd at the body. */
float findPart(float s) {
  return sinh(conic.w * s) / sinh(abs(conic.w));
}
float findSine(float angle) {
  return abs(angle) < 0.03 ? angle * (1.0 - angle * angle / 6.0) : sin(angle); // GPUs round small sines
}
vec3 findPlace(float s) {
  float part = findPart(s);
  if (conic.x > 1.5) { // open: the parameter is the tangent of half the true anomaly
    float way = part < 0.0 ? part * (conic.z + centre.w) : part * (conic.z - centre.w), h = centre.w + way;
    vec2 chord = way * vec2(-(1.0 + conic.y) * (h + centre.w), 2.0 * (1.0 - conic.y * h * centre.w));
    chord /= (1.0 + conic.y * h * h) * (1.0 + conic.y * centre.w * centre.w);
    return centre.xyz + P * chord.x + Q * chord.y;
  }
  // The angle whose equal steps crowd at the periapsis of an eccentric orbit, halved: at the body and at this point.
  vec2 own = normalize(vec2(cos(centre.w * 0.5), conic.z * sin(centre.w * 0.5)));
  float sine = findSine(part * HALF_TURN * 0.5), cosine = cos(part * HALF_TURN * 0.5);
  vec2 here = vec2(own.x * cosine - own.y * sine, own.y * cosine + own.x * sine);
  // Half the difference of the eccentric anomalies, then the chord between both points
  vec2 half_ = normalize(vec2(conic.z * conic.z * own.x * here.x + own.y * here.y, conic.z * sine));
  float c = cos(centre.w), s_ = sin(centre.w);
  vec2 middle = vec2(c * half_.x - s_ * half_.y, s_ * half_.x + c * half_.y);
  return centre.xyz + 2.0 * half_.y * (Q * middle.x - P * middle.y);
}
void main() {
  side = strip.y;
  tint = paint.rgb;
  opacity = 0.0;
  gl_Position = vec4(2.0, 2.0, 2.0, 1.0);
  if (paint.w < 0.01) return;
  float next = strip.x < 0.5 ? 0.004 : -0.004;
  vec4 a = toClip(toEye(findPlace(strip.x))), b = toClip(toEye(findPlace(strip.x + next)));
  vec2 scale = vec2(lens.y / lens.x, 1.0);
  vec2 direction = (b.xy * a.w - a.xy * b.w) * scale * sign(next);
  float size = length(direction);
  direction = size > 0.0 ? direction / size : vec2(1.0, 0.0);
  vec2 normal = vec2(-direction.y, direction.x);
  float reach = width * 0.5 + 1.0;
  gl_Position = a;
  gl_Position.xy += normal * side * reach / scale / lens.w * a.w;
  float past = 1.0 - pow(min(abs(findPart(strip.x)), 1.0), 0.33);
  opacity = paint.w * (strip.x <= 0.0 ? mix(0.36, 1.0, pow(past, 1.4)) : 0.36);
}
`;
export const ORBIT_FRAGMENT = `
precision highp float;
uniform float width;
in float side;
in float opacity;
flat in vec3 tint;
out vec4 drawn;
void main() {
  float pixels = abs(side) * (width * 0.5 + 1.0);
  float a = opacity * clamp(width * 0.5 + 0.5 - pixels, 0.0, 1.0);
  drawn = vec4(tint * a, a);
}
`;

/** Where bodies have been, fading with age. */
export const TRAIL_VERTEX = `${HEADER}
in vec3 place;
in float age; // from 0, the oldest, to 1, now
in vec3 tint;
out vec4 paint;
void main() {
  paint = vec4(tint, 0.9 * age * age);
  gl_Position = toClip(toEye(place));
}
`;
export const TRAIL_FRAGMENT = `
precision highp float;
in vec4 paint;
out vec4 drawn;
void main() { drawn = vec4(paint.rgb * paint.a, paint.a); }
`;

/** A ring in the plane of the orbits, such as the habitable zone. */
export const RING_VERTEX = `${HEADER}
uniform vec3 middle;
uniform vec3 first;
uniform vec3 second;
in vec3 ring; // cosine, sine, and opacity
in float radius;
out float opacity;
void main() {
  opacity = ring.z;
  gl_Position = toClip(toEye(middle + (first * ring.x + second * ring.y) * radius));
}
`;
export const RING_FRAGMENT = `
precision highp float;
uniform vec3 color;
uniform float strength;
in float opacity;
out vec4 drawn;
void main() {
  float a = opacity * strength;
  drawn = vec4(color * a, a);
}
`;

/** The night behind everything: a little lighter in the middle, without visible steps. */
export const NIGHT_VERTEX = `
in vec2 corner;
out vec2 place;
void main() {
  place = corner;
  gl_Position = vec4(corner, 0.0, 1.0);
}
`;
export const NIGHT_FRAGMENT = `
precision highp float;
in vec2 place;
out vec4 drawn;
void main() {
  float d = dot(place, place) * 0.5;
  vec3 c = mix(vec3(0.043, 0.055, 0.075), vec3(0.020, 0.024, 0.031), smoothstep(0.0, 0.9, d));
  float noise = fract(dot(gl_FragCoord.xy, vec2(0.7548777, 0.5698403)));
  drawn = vec4(c + (noise - 0.5) / 255.0, 1.0);
}
`;
