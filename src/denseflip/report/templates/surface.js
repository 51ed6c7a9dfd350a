"use strict";
// The surface of a human brain, rasterised on the CPU: smooth shading without WebGL.
(() => {
  const { bytes } = window.denseflipElements;
  const LIGHT = [-0.45, 0.72, 0.53]; // from the upper left, towards the viewer

  class Surface {
    /** Vertices are tenths of a millimetre (int16), faces three vertex numbers each (uint16), both base64. */
    constructor({ vertices, faces }) {
      this.points = Float32Array.from(new Int16Array(bytes(vertices)), (tenths) => tenths / 10);
      this.faces = new Uint16Array(bytes(faces));
      this.count = this.points.length / 3;
      this.normals = this.findNormals();
      this.creases = this.findCreases();
      const limits = [0, 1, 2].map((axis) => {
        let low = Infinity, high = -Infinity;
        for (let i = axis; i < this.points.length; i += 3) { low = Math.min(low, this.points[i]); high = Math.max(high, this.points[i]); }
        return [low, high];
      });
      this.centre = limits.map(([low, high]) => (low + high) / 2);
      this.reach = 0;
      for (let i = 0; i < this.points.length; i += 3) this.reach = Math.max(this.reach, Math.hypot(...this.centre.map((c, axis) => this.points[i + axis] - c)));
      // Buffers of a projection, allocated once: screen x and y, depth, shade of every vertex.
      [this.x, this.y, this.z, this.shade] = [0, 1, 2, 3].map(() => new Float32Array(this.count));
    }

    /** Outward unit normals, each the mean of the faces around it, weighted by area. */
    findNormals() {
      const { points: p, faces } = this;
      const sum = new Float32Array(p.length);
      let volume = 0;
      for (let f = 0; f < faces.length; f += 3) {
        const [a, b, c] = [3 * faces[f], 3 * faces[f + 1], 3 * faces[f + 2]];
        const [ux, uy, uz] = [p[b] - p[a], p[b + 1] - p[a + 1], p[b + 2] - p[a + 2]];
        const [vx, vy, vz] = [p[c] - p[a], p[c + 1] - p[a + 1], p[c + 2] - p[a + 2]];
        const normal = [uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx];
        volume += p[a] * normal[0] + p[a + 1] * normal[1] + p[a + 2] * normal[2];
        for (const corner of [a, b, c]) for (let axis = 0; axis < 3; axis += 1) sum[corner + axis] += normal[axis];
      }
      const sign = volume < 0 ? -1 : 1;
      for (let i = 0; i < sum.length; i += 3) {
        const length = sign * (Math.hypot(sum[i], sum[i + 1], sum[i + 2]) || 1);
        for (let axis = 0; axis < 3; axis += 1) sum[i + axis] /= length;
      }
      return sum;
    }

    /** How deep each vertex lies in a fold: 0 on flat and convex parts, up to 1. */
    findCreases() {
      const { points: p, faces, normals } = this;
      const sum = new Float32Array(p.length), degree = new Uint16Array(this.count);
      for (let f = 0; f < faces.length; f += 3) {
        for (const [one, other] of [[0, 1], [1, 2], [2, 0]]) {
          const a = faces[f + one], b = faces[f + other];
          for (let axis = 0; axis < 3; axis += 1) sum[3 * a + axis] += p[3 * b + axis];
          degree[a] += 1;
        }
      }
      let depth = new Float32Array(this.count);
      for (let i = 0; i < this.count; i += 1) {
        for (let axis = 0; axis < 3; axis += 1) depth[i] += normals[3 * i + axis] * (sum[3 * i + axis] / (degree[i] || 1) - p[3 * i + axis]);
      }
      return depth.map((mm) => Math.max(0, Math.min(1, mm / 2.2)));
    }

    /**
     * Draws the visible side into a canvas of `width` by `height` pixels, in `colours.glass`.
     * `place` fills the screen position and depth of all vertices, `turn` returns a rotated vector.
     */
    draw(canvas, width, height, place, turn, colours) {
      const { count, normals, creases, shade, x, y, z } = this;
      place(this.points, x, y, z);
      for (let i = 0; i < count; i += 1) {
        const [right, up, near] = turn(normals[3 * i], normals[3 * i + 1], normals[3 * i + 2]);
        const rim = 1 - Math.max(0, near);
        const lit = Math.max(0, right * LIGHT[0] + up * LIGHT[1] + near * LIGHT[2]);
        // Opacity of one colour: on white, folds and shadows are dark; on dark, lit parts are light.
        const body = colours.dark ? 0.12 + 0.16 * lit - 0.14 * creases[i] : 0.05 + 0.12 * (1 - lit) + 0.22 * creases[i];
        shade[i] = 255 * Math.max(0.03, Math.min(0.6, body + 0.3 * rim * rim * rim));
      }
      if (canvas.width !== width || canvas.height !== height) Object.assign(canvas, { width, height });
      const pen = canvas.getContext("2d"), image = pen.createImageData(width, height);
      this.fill(image, Number.parseInt(colours.glass.slice(1), 16));
      pen.putImageData(image, 0, 0);
    }

    /** The nearest face at each pixel, its shade interpolated, as opacity of one colour. */
    fill(image, colour) {
      const { faces, x, y, z, shade } = this, { width, height } = image;
      const near = new Float32Array(width * height).fill(Infinity);
      const pixels = new Uint32Array(image.data.buffer); // little-endian: ABGR
      const tint = ((colour & 255) << 16) | (colour & 0xff00) | (colour >> 16);
      for (let f = 0; f < faces.length; f += 3) {
        const a = faces[f], b = faces[f + 1], c = faces[f + 2];
        const ax = x[a], ay = y[a], bx = x[b], by = y[b], cx = x[c], cy = y[c];
        const area = (bx - ax) * (cy - ay) - (by - ay) * (cx - ax);
        if (!area) continue;
        const top = Math.max(0, Math.ceil(Math.min(ay, by, cy) - 0.5)), bottom = Math.min(height - 1, Math.floor(Math.max(ay, by, cy) - 0.5));
        const left = Math.max(0, Math.ceil(Math.min(ax, bx, cx) - 0.5)), right = Math.min(width - 1, Math.floor(Math.max(ax, bx, cx) - 0.5));
        const stepB = (cy - ay) / area, stepC = -(by - ay) / area;
        for (let row = top; row <= bottom; row += 1) {
          const py = row + 0.5 - ay, px = left + 0.5 - ax;
          let wb = (px * (cy - ay) - py * (cx - ax)) / area, wc = (py * (bx - ax) - px * (by - ay)) / area;
          let at = row * width + left;
          for (let column = left; column <= right; column += 1, at += 1, wb += stepB, wc += stepC) {
            const wa = 1 - wb - wc;
            if (wa < 0 || wb < 0 || wc < 0) continue;
            const depth = wa * z[a] + wb * z[b] + wc * z[c];
            if (depth >= near[at]) continue;
            near[at] = depth;
            pixels[at] = ((wa * shade[a] + wb * shade[b] + wc * shade[c]) << 24) | tint;
          }
        }
      }
    }
  }

  window.denseflipSurface = Surface;
})();
